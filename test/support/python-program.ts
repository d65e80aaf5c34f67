import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';

/** Returns a PyPI program in a virtual environment, created if needed, or why that fails. */
export function findPythonProgram(name: string, version: string): { program: string } | { missing: string } {
  const environment = join(projectRoot, `node_modules/.cache/lathe-${name}`);
  const program = join(environment, `bin/${name}`);
  if (existsSync(program) && run(program, ['--version']).stdout.includes(version)) return { program };
  if (run('python3', ['--version']).status !== 0) return { missing: 'python3 is not installed' };
  process.stdout.write(`Installing ${name} ${version} from PyPI …\n`);
  const made = run('python3', ['-m', 'venv', environment]);
  if (made.status !== 0) return { missing: `python3 -m venv failed: ${made.stderr || made.stdout}` };
  const installed = run(join(environment, 'bin/pip'), ['install', '--quiet', `${name}==${version}`]);
  return installed.status === 0 ? { program } : { missing: `pip failed: ${installed.stderr}` };
}

function run(program: string, args: string[]) {
  return spawnSync(program, args, { encoding: 'utf8' });
}
