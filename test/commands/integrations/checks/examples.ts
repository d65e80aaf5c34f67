import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../../infra/bundling.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

const folder = join(projectRoot, 'examples');

/** Checks what all examples have in common; each of them has a check of its own name, which runs it. */
export const check: Check = async () => {
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
  const table = readFileSync(join(folder, 'README.md'), 'utf8');
  const listed = [...table.matchAll(/^\| \[([\w-]+)\]\(\1\/README\.md\) /gm)].map(([, name]) => name);
  assert.deepEqual(listed.sort(), names.sort(), 'The table of examples/README.md does not match the folders.');
  let typed = 0;
  for (const name of names) {
    assert.ok(existsSync(join(import.meta.dirname, `${name}.ts`)), `No check runs the example ${name}.`);
    const sources = readdirSync(join(folder, name)).filter((file) => /\.m?[jt]s$/.test(file));
    if (!sources.some((file) => file.endsWith('.ts'))) continue;
    await using example = new Example(name);
    example.installNpm();
    const options = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')).compilerOptions;
    const flags = Object.entries(options).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
    const tsc = join(projectRoot, 'node_modules/.bin/tsc');
    await example.succeed(tsc, ['--ignoreConfig', ...flags, ...sources.filter((file) => file.endsWith('.ts'))]);
    typed++;
  }
  return `${names.length} examples are listed and have a check; ${typed} in TypeScript pass tsc with their own packages`;
};
