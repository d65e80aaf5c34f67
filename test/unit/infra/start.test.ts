import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../../../infra/bundling.ts';
import packageJson from '../../../package.json' with { type: 'json' };

/** Runs the script of `npm start` with arguments, which it checks before it installs or starts anything. */
function start(...args: string[]) {
  const command = packageJson.scripts.start.split(' ').slice(1);
  return spawnSync(process.execPath, [...command, ...args], { cwd: projectRoot, encoding: 'utf8', timeout: 20_000 });
}

test('npm start -- --help lists settings that exist', () => {
  const documented = readFileSync(join(projectRoot, 'docs/settings.md'), 'utf8');
  for (const option of ['--help', '-h']) {
    const { status, stdout, stderr } = start(option);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const variables = [...stdout.matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name);
    expect(variables).toContain('PORT');
    for (const name of variables) expect(documented).toContain(`\`${name}\``);
  }
});

test('npm start refuses arguments', () => {
  const { status, stdout, stderr } = start('--port=3001');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('Expected no arguments but received --port=3001');
  expect(stderr).toContain('npm start -- --help');
});
