import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';
import { currentTemplate } from '../../infra/local/template-cache.ts';

const environment = join(projectRoot, 'node_modules/.cache/lathe-cfn-lint');

/** Rules that say nothing about this stack: the CDK writes out dependencies that follow from references too. */
const ignored = ['W3005'];

const print = (line: string) => void process.stdout.write(`${line}\n`);

function run(program: string, args: string[]) {
  return spawnSync(program, args, { encoding: 'utf8' });
}

/** Returns the cfn-lint of a virtual environment, made where it is not there, or why it cannot be had. */
function findLinter(): { program: string } | { missing: string } {
  const requirements = join(projectRoot, 'test/cfn-lint/requirements.txt');
  const program = join(environment, 'bin/cfn-lint');
  const version = readFileSync(requirements, 'utf8').trim().split('==')[1] ?? '';
  if (existsSync(program) && run(program, ['--version']).stdout.includes(version)) return { program };
  if (run('python3', ['--version']).status !== 0) return { missing: 'python3 is not installed' };
  print(`Installing cfn-lint ${version} from PyPI …`);
  const made = run('python3', ['-m', 'venv', environment]);
  if (made.status !== 0) return { missing: `python3 -m venv failed: ${made.stderr || made.stdout}` };
  const installed = run(join(environment, 'bin/pip'), ['install', '--quiet', '-r', requirements]);
  return installed.status === 0 ? { program } : { missing: `pip failed: ${installed.stderr}` };
}

const found = findLinter();
if ('missing' in found) {
  print(`Skipped: cfn-lint cannot be had, since ${found.missing}.`);
} else {
  const folder = dirname(await currentTemplate());
  const templates = readdirSync(folder).filter((name) => name.endsWith('.template.json'));
  const paths = templates.map((name) => join(folder, name));
  const { status, stdout, stderr } = run(found.program, ['--ignore-checks', ...ignored, '--template', ...paths]);
  print(stdout + stderr);
  print(status === 0 ? `cfn-lint has nothing to say about ${templates.join(' and ')}.` : 'cfn-lint found problems.');
  process.exitCode = status === 0 ? 0 : 1;
}
