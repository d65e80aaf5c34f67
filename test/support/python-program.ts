import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';

/**
 * Returns a PyPI program in a virtual environment, created if needed, or why that fails. Its version is in the
 * requirements.txt of a test folder.
 */
export function findPythonProgram(name: string, folder: string): { program: string } | { missing: string } {
  const environment = join(projectRoot, `node_modules/.cache/lathe-${folder}`);
  const requirements = join(projectRoot, `test/${folder}/requirements.txt`);
  const program = join(environment, `bin/${name}`);
  const version = readFileSync(requirements, 'utf8').trim().split('==')[1] ?? '';
  if (existsSync(program) && run(program, ['--version']).stdout.includes(version)) return { program };
  if (run('python3', ['--version']).status !== 0) return { missing: 'python3 is not installed' };
  process.stdout.write(`Installing ${name} ${version} from PyPI …\n`);
  const made = run('python3', ['-m', 'venv', environment]);
  if (made.status !== 0) return { missing: `python3 -m venv failed: ${made.stderr || made.stdout}` };
  const installed = run(join(environment, 'bin/pip'), ['install', '--quiet', '-r', requirements]);
  return installed.status === 0 ? { program } : { missing: `pip failed: ${installed.stderr}` };
}

function run(program: string, args: string[]) {
  return spawnSync(program, args, { encoding: 'utf8' });
}
