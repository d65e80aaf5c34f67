import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundlesOnDemand } from '../../infra/build/bundles.ts';
import { temporaryFolder } from '../../packages/local-aws/test/lambda/fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from '../../packages/local-aws/test/lambda/fixtures/functions.ts';
import { asOrdinaryUser, whyOnlyKnownUsers } from '../support/ordinary-user.ts';
import { skipBecause } from '../support/skip.ts';

const entry = fileURLToPath(new URL('../../packages/local-aws/test/lambda/fixtures/bundled.ts', import.meta.url));

test('a zip function runs from a bundle that has no packages in reach', async () => {
  const fn = fixtureFunction('importPackage', { entry });
  await using runtime = fixtureRuntime({ codeOf: bundlesOnDemand() });

  const inBundle = await runtime.invoke(fn, { name: 'zod', carried: true });
  const outside = runtime.invoke(fn, { name: 'zod', carried: false });

  expect(inBundle).toMatchObject({ loaded: true });
  await expect(outside).rejects.toMatchObject({ message: expect.stringContaining("Cannot find package 'zod'") });
});

test('a function has the same name in its bundle as in Lambda', async () => {
  const fn = fixtureFunction('variables', { entry });
  await using runtime = fixtureRuntime({ codeOf: bundlesOnDemand() });

  const { handler, root } = Object(await runtime.invoke(fn, {}));

  expect(handler).toBe('index.variables');
  expect(statSync(join(root, 'index.mjs')).isFile()).toBe(true);
});

test('a bundle is rebuilt only if its source has changed', async () => {
  using temporary = temporaryFolder();
  const fn = fixtureFunction('handler', { entry: join(temporary.path, 'changing.ts') });
  const bundled = async (text: string) => {
    writeFileSync(fn.entry, `export const handler = () => '${text}';`);
    const path = join((await bundlesOnDemand()(fn))?.root ?? '', 'index.mjs');
    return { path, code: readFileSync(path, 'utf8'), made: statSync(path).mtimeMs };
  };

  const first = await bundled('one');
  const changed = await bundled('two');
  const again = await bundled('one');

  expect(first.code).toContain('one');
  expect(changed.code).toContain('two');
  expect(again).toEqual(first);
});

test('bundles are kept for a user without a passwd entry', skipBecause(whyOnlyKnownUsers), async () => {
  const module = new URL('../../infra/build/bundles.ts', import.meta.url).pathname;

  const folder = await asOrdinaryUser(`import { cacheFolder } from '${module}'; console.log(cacheFolder());`);

  expect(folder).toMatch(/lathe-bundles-12345$/);
});

test('services that start concurrently make the same bundles without conflicts', async () => {
  using temporary = temporaryFolder();
  const fn = fixtureFunction('handler', { entry: join(temporary.path, 'shared.ts') });
  writeFileSync(fn.entry, `export const handler = () => '${crypto.randomUUID()}';`);

  const roots = (await Promise.all([bundlesOnDemand()(fn), bundlesOnDemand()(fn)])).map((code) => code?.root);

  expect(roots[0]).toBe(roots[1]);
  expect(statSync(join(roots[0] ?? '', 'index.mjs')).isFile()).toBe(true);
});

test('a function that cannot be bundled fails, and runs once its source is repaired', async () => {
  using temporary = temporaryFolder();
  const fn = fixtureFunction('handler', { entry: join(temporary.path, 'broken.ts') });
  await using runtime = fixtureRuntime({ codeOf: bundlesOnDemand() });

  writeFileSync(fn.entry, `import './nowhere.ts'; export const handler = () => 'never';`);
  await expect(runtime.invoke(fn, {})).rejects.toMatchObject({ message: expect.stringContaining('./nowhere.ts') });
  writeFileSync(fn.entry, `export const handler = () => 'repaired';`);

  expect(await runtime.invoke(fn, {})).toBe('repaired');
});
