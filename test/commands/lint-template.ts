import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { findPythonProgram } from '../support/python-program.ts';

/** Rules that say nothing about this stack: the CDK writes out dependencies that follow from references too. */
const ignored = ['W3005'];

const print = (line: string) => void process.stdout.write(`${line}\n`);

const found = findPythonProgram('cfn-lint', '1.58.0');
if ('missing' in found) {
  print(`Skipped: cfn-lint cannot be had, since ${found.missing}.`);
} else {
  const folder = dirname(await currentTemplate());
  const templates = readdirSync(folder).filter((name) => name.endsWith('.template.json'));
  const paths = templates.map((name) => join(folder, name));
  const args = ['--ignore-checks', ...ignored, '--template', ...paths];
  const { status, stdout, stderr } = spawnSync(found.program, args, { encoding: 'utf8' });
  print(stdout + stderr);
  print(status === 0 ? `cfn-lint has nothing to say about ${templates.join(' and ')}.` : 'cfn-lint found problems.');
  process.exitCode = status === 0 ? 0 : 1;
}
