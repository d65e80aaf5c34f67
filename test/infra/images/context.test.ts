import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { engineCatalogues, folderOf } from '../../../functions/catalogue/catalogues.ts';
import { projectRoot } from '../../../infra/bundling.ts';
import { stageContext } from '../../../infra/images/context.ts';
import { samples } from '../../../infra/smoke/samples.ts';
import { EngineHost, givenByLambda } from './engine-host.ts';

const folders = engineCatalogues.filter(({ resources }) => resources.packaging === 'image').map(folderOf);

let root: string;

// A copy, in which tests may edit modules.
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  for (const name of ['functions', 'packages/runtime-client', 'shared', 'package.json', 'package-lock.json'])
    cpSync(join(projectRoot, name), join(root, name), { recursive: true });
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Copies a staged context to a place with only its own packages. */
function unpack(context: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(context, folder, { recursive: true });
  const lock: { packages: object } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  // Nested packages come with their parents.
  const places = Object.keys(lock.packages).filter((path) => path.lastIndexOf('node_modules/') === 0);
  for (const place of places) {
    // The lock file names the binaries of every platform; this machine has only its own.
    if (!existsSync(join(projectRoot, place))) continue;
    // Copied, since links would lead to all other packages.
    cpSync(join(projectRoot, place), join(folder, place), { recursive: true });
  }
  return folder;
}

async function run(folder: string, script: string): Promise<{ code: number | null; stderr: string }> {
  writeFileSync(join(folder, 'load.mjs'), script);
  // Its compile cache would be in a folder that no other process loads from.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  const child = spawn(process.execPath, ['load.mjs'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, stderr };
}

describe('the build context of', () => {
  test.for(folders)('%s holds every module and package that its engine loads', async (folder) => {
    const unpacked = unpack(stageContext(folder, root));
    // The handler starts the engine's process, which must also load its modules before both end.
    const script = `
      import { Sandbox } from './functions/engines/runtime/sandbox/sandbox.ts';
      globalThis.awslambda = { streamifyResponse: (handler) => handler };
      const started = [];
      Sandbox.prototype.warm = function () { started.push(this); };
      await import('./${folder}/handler.ts');
      for (const sandbox of started) {
        await sandbox.barriers();
        sandbox.stop();
      }
      if (started.length !== 1) throw new Error('The handler has started no engine.');
      process.exit();`;
    const { code, stderr } = await run(unpacked, script);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toMatch(/NOT_FOUND|ENOENT/);
  });

  test.for(folders)('%s holds no AWS SDK and no catalogue of another engine', (folder) => {
    const context = stageContext(folder, root);
    const { packages }: { packages: object } = JSON.parse(readFileSync(join(context, 'package-lock.json'), 'utf8'));
    expect(Object.keys(packages).filter((path) => path.includes('@aws-sdk/'))).toEqual([]);
    for (const other of folders)
      if (other !== folder) expect(existsSync(join(context, other, 'catalogue.ts')), other).toBe(false);
  });

  test('an engine runs by its own entry point, and refuses tenants other than the one Lambda names', async () => {
    const folder = unpack(stageContext('functions/engines/image', root));
    const host = await EngineHost.start();
    const child = spawn(process.execPath, ['packages/runtime-client/src/main.ts'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env.PATH,
        ...givenByLambda('image', host),
        LAMBDA_TASK_ROOT: folder,
        _HANDLER: 'functions/engines/image/handler.handler',
      },
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      host.stop();
    });
    const sample = samples.find(({ name }) => name === 'gradient.png');
    if (!sample) throw new Error('There is no such sample.');
    host.tenantId = 'images';
    const output = await host.convert(sample);
    expect(output.subarray(8, 12).toString()).toBe('WEBP');
    host.tenantId = 'another';
    await expect(host.convert(sample)).rejects.toThrow('The request belongs to another tenant than this environment.');
  });
});

describe('an edit', () => {
  const contexts = () => folders.map((folder) => basename(stageContext(folder, root)));
  const changedBy = (file: string) => {
    const before = contexts();
    appendFileSync(join(root, file), '\n// edited\n');
    const after = contexts();
    return folders.filter((_, index) => before[index] !== after[index]).map((folder) => basename(folder));
  };

  test.for(['archive', 'media', 'ebook'])('in %s changes the image of that engine only', (engine) => {
    expect(changedBy(`functions/engines/${engine}/run.ts`)).toEqual([engine]);
  });

  test('in the API, a worker or a catalogue changes no image that does not load it', () => {
    expect(changedBy('functions/api/routes.ts')).toEqual([]);
    expect(changedBy('functions/worker/worker.ts')).toEqual([]);
    expect(changedBy('functions/engines/archive/catalogue.ts')).toEqual([]);
  });

  test('in the runtime client changes every image', () => {
    expect(changedBy('packages/runtime-client/src/main.ts')).toHaveLength(folders.length);
  });
});
