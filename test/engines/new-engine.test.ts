import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { dataUri, download, filesOf, taskOf } from '../support/client.ts';
import { type RunningService, startService } from '../support/running-stack.ts';

const copied = [
  ...['cdk.json', 'package-lock.json', 'package.json'],
  ...['functions', 'infra', 'layers', 'shared', 'web'],
  ...['client', 'local-aws', 'runtime-client'].map((name) => `packages/${name}/src`),
];
const list = 'functions/catalogue/catalogues.ts';

let root: string;
let service: RunningService;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  for (const name of copied) await cp(join(projectRoot, name), join(root, name), { recursive: true });
  await symlink(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  await cp(join(projectRoot, 'test/engines/fixtures'), join(root, 'functions/engines/shout'), { recursive: true });
  const before = await readFile(join(root, list), 'utf8');
  const after = before
    .replace('import ', "import { catalogue as shout } from '../engines/shout/catalogue.ts';\nimport ")
    .replace('engineCatalogues: EngineCatalogue[] = [', '$&shout, ');
  expect(after).toContain('[shout, ');
  await writeFile(join(root, list), after);
  service = await startService({}, root);
});

afterAll(async () => {
  await service?.stop();
  await rm(root, { recursive: true, force: true });
});

test('an engine is added by its folder and its line in the list', async () => {
  const { body } = await service.client.call<{ engines: object[] }>('GET', '/health');
  expect(body.engines).toContainEqual(expect.objectContaining({ name: 'shout', usable: true }));

  const { id } = await service.client.createJob({
    import: { operation: 'import/base64', file: dataUri(Buffer.from('quiet: hear, hear')), filename: 'a.quiet' },
    convert: { operation: 'convert', input: 'import', output_format: 'loud' },
    export: { operation: 'export/url', input: 'convert' },
  });
  const job = await service.client.waitForJob(id);

  expect(job.status, JSON.stringify(job.tasks.map(({ result }) => result))).toBe('completed');
  expect(filesOf(job, 'convert')).toMatchObject([{ filename: 'a.loud', media_type: 'text/x-loud' }]);
  expect(String(await download(taskOf(job, 'export').result.url ?? ''))).toBe('QUIET: HEAR, HEAR');
});
