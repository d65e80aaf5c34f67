import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { skipBecause } from '../support/skip.ts';
import { executable, olderNode } from './run-cli.ts';

const run = promisify(execFile);
const source = join(projectRoot, 'packages/client');

/** A project that has installed the package by its tarball, and nothing else. */
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'lathe-package-'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', project], { cwd: source });
  await writeFile(join(project, 'package.json'), '{"name":"empty","private":true}');
  // Without the registry: the package has no dependencies.
  const args = ['install', '--offline', '--no-audit', '--no-fund', join(project, stdout.trim())];
  await run('npm', args, { cwd: project });
});

afterAll(() => rm(project, { recursive: true, force: true }));

const nodes: [string, string | undefined][] = [
  ['this Node', process.execPath],
  ['Node 20', olderNode],
];

describe.each(nodes)('with %s', (_name, node = '') => {
  const skipped = skipBecause(node === '' ? 'no Node 20 is installed' : undefined);

  test('the package is imported and required', skipped, async () => {
    const use = 'process.stdout.write(new Lathe().url);';
    await writeFile(join(project, 'use.mjs'), `import { Lathe } from '@lathe-convert/client';\n${use}\n`);
    await writeFile(join(project, 'use.cjs'), `const { Lathe } = require('@lathe-convert/client');\n${use}\n`);
    // Node 20.16 cannot require an ES module.
    for (const args of [['use.mjs'], ['--no-experimental-require-module', 'use.cjs']])
      expect((await run(node, args, { cwd: project })).stdout).toBe('http://localhost:3000');
  });

  test('the command line runs from the package and from the checkout', skipped, async () => {
    const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
    for (const bin of [join(project, 'node_modules/.bin/lathe'), executable]) {
      expect((await run(node, [bin, '--version'], { cwd: project })).stdout).toBe(`${version}\n`);
      const failed = await run(node, [bin, 'bogus'], { cwd: project }).catch((error: unknown) => error);
      expect(failed).toMatchObject({ code: 2, stderr: 'lathe: Unknown command bogus. Run lathe help for a list.\n' });
    }
  });

  test('the MCP server asks for the packages that it needs', skipped, async () => {
    const failed = await run(node, ['node_modules/.bin/lathe', 'mcp'], { cwd: project }).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('npm install @modelcontextprotocol/sdk zod'),
    });
  });
});

test('the package brings no other package and no sources', async () => {
  expect(await readdir(join(project, 'node_modules/@lathe-convert'))).toEqual(['client']);
  const found = (await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'));
  expect(found).toEqual(['@lathe-convert']);
  const modules = await readdir(join(project, 'node_modules/@lathe-convert/client'), { recursive: true });
  expect(modules.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
});

test.each([
  ['a browser', { lib: ['es2023', 'dom', 'dom.iterable'], types: [], skipLibCheck: false }],
  ['Node', { lib: ['es2023'], types: ['node'], skipLibCheck: true }],
  ['Node with CommonJS', { module: 'node20', moduleResolution: 'node16', lib: ['es2023'], types: ['node'] }],
])('its types fit a project for %s', async (_name, settings) => {
  const folder = await mkdtemp(join(project, 'types-'));
  await writeFile(
    join(folder, 'use.ts'),
    `import { type Job, Lathe, LatheError } from '@lathe-convert/client';
    const lathe = new Lathe({ key: 'k' });
    export async function use(file: Blob): Promise<string> {
      const { files, job } = await lathe.convert(file, { to: 'pdf', options: { quality: 3 } });
      const made: Job = await lathe.createJob({ tasks: { a: { operation: 'import/url', url: 'https://example.com' } } });
      for await (const event of lathe.follow(made)) if ('task' in event) event.task.progress?.toFixed();
      // @ts-expect-error there is no such operation
      await lathe.createJob({ tasks: { a: { operation: 'import/nothing' } } });
      // @ts-expect-error the format is required
      await lathe.convert(file, {});
      await lathe.crop(file, { options: { x: 1, width: 10 } });
      await lathe.trim(file, { options: { trim_start: '1' } });
      // @ts-expect-error an option of another operation
      await lathe.compress(file, { options: { trim_start: '1' } });
      // @ts-expect-error a value that the option does not have
      await lathe.merge([file], { options: { pdf_page_size: 'huge' } });
      await lathe.perform('convert', [file], { to: 'pdf', options: { chosen_at_run_time: 1 } });
      return new LatheError('code', job?.id ?? '').errors?.[files[0]?.filename ?? '']?.[0] ?? '';
    }`,
  );
  const compilerOptions = {
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    typeRoots: [join(projectRoot, 'node_modules/@types')],
    ...settings,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const { stdout } = await run(join(projectRoot, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error) => error);
  expect(stdout).toBe('');
});
