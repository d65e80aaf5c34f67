import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';

const run = promisify(execFile);
const source = join(projectRoot, 'packages/client');

/** A project that has installed the package as it is published. */
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'lathe-package-'));
  const installed = join(project, 'node_modules/lathe-client');
  await mkdir(installed, { recursive: true });
  const { files } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  expect(files).toEqual(['bin', 'dist']);
  await run(join(projectRoot, 'node_modules/.bin/tsc'), ['-p', source, '--outDir', join(installed, 'dist')]);
  for (const name of ['package.json', 'bin']) await cp(join(source, name), join(installed, name), { recursive: true });
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
});

afterAll(() => rm(project, { recursive: true, force: true }));

test('the built client is imported, and the built command line runs without optional packages', async () => {
  await writeFile(
    join(project, 'use.js'),
    `import { Lathe } from 'lathe-client';\nprocess.stdout.write(new Lathe().url);\n`,
  );
  expect((await run(process.execPath, ['use.js'], { cwd: project })).stdout).toBe('http://localhost:3000');
  const bin = join(project, 'node_modules/lathe-client/bin/lathe.js');
  expect((await run(process.execPath, [bin, 'help'], { cwd: project })).stdout).toContain(
    'lathe convert in.docx out.pdf',
  );
  const failed = await run(process.execPath, [bin, 'mcp'], { cwd: project }).catch(
    (error: { code: number; stderr: string }) => error,
  );
  expect(failed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('npm install @modelcontextprotocol/sdk zod'),
  });
  const modules = await readdir(join(project, 'node_modules/lathe-client/dist'), { recursive: true });
  expect(modules.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
});

test.each([
  ['a browser', { lib: ['es2023', 'dom', 'dom.iterable'], types: [], skipLibCheck: false }],
  ['Node', { lib: ['es2023'], types: ['node'], skipLibCheck: true }],
])('its types fit a project for %s', async (_name, settings) => {
  const folder = await mkdtemp(join(project, 'types-'));
  await writeFile(
    join(folder, 'use.ts'),
    `import { type Job, Lathe, LatheError } from 'lathe-client';
    const lathe = new Lathe({ key: 'k' });
    export async function use(file: Blob): Promise<string> {
      const { files, job } = await lathe.convert(file, { to: 'pdf', options: { quality: 3 } });
      const made: Job = await lathe.createJob({ tasks: { a: { operation: 'import/url', url: 'https://example.com' } } });
      for await (const event of lathe.follow(made)) if ('task' in event) event.task.progress?.toFixed();
      // @ts-expect-error there is no such operation
      await lathe.createJob({ tasks: { a: { operation: 'import/nothing' } } });
      // @ts-expect-error the format is required
      await lathe.convert(file, {});
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
