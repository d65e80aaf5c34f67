import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/bundling.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');

/** Returns a Python with ministack, installed where it is not there, or why there is none. */
export function findMinistack(): { python: string } | { missing: string } {
  // Named after its version, so that another one is installed beside it.
  const release = readFileSync(requirements, 'utf8').trim().replace('==', '-');
  const environment = join(projectRoot, 'node_modules/.cache/second-opinions', release);
  const python = join(environment, 'bin/python');
  if (existsSync(join(environment, 'bin/ministack'))) return { python };
  if (spawnSync('python3', ['-m', 'venv', environment]).status !== 0)
    return { missing: 'python3 cannot make a virtual environment' };
  const installed = spawnSync(python, ['-m', 'pip', 'install', '--quiet', '-r', requirements]);
  return installed.status === 0 ? { python } : { missing: `pip could not install ${release} from PyPI` };
}
