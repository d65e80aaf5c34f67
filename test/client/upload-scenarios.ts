import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Job, Lathe, type Task } from '../../packages/client/src/index.ts';
import { startChromium } from '../support/chromium.ts';
import { startFileServer } from '../transfers/file-server.ts';
import { stack } from './running-service.ts';

const mebibyte = 1024 ** 2;
/** Just above the size from which files are uploaded in parts: seven parts. */
const size = 6 * 16 * mebibyte + 1000;

let folder: string;
let path: string;
let digest: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-upload-'));
  path = join(folder, 'large.bin');
  // The rest is a hole, which takes no space.
  await writeFile(path, randomBytes(mebibyte));
  await truncate(path, size);
  digest = await sha256(createReadStream(path));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function sha256(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex');
}

/** Notes the parts that a client sends, and breaks the connection for those that a test refuses. */
function watched(accepts: (sent: number, part: number) => boolean = () => true) {
  const parts: number[] = [];
  const lathe = new Lathe({
    url: stack.url,
    key: stack.apiKey,
    retry: { retries: 1, minPauseMs: 1, maxPauseMs: 2 },
    fetch: async (input, init) => {
      const { searchParams } = new URL(String(input));
      if (init?.method === 'PUT') {
        const part = Number(searchParams.get('partNumber'));
        if (!accepts(parts.length, part)) throw new TypeError('fetch failed');
        parts.push(part);
      }
      return fetch(input, init);
    },
  });
  return { lathe, parts };
}

async function uploadTask(lathe: Lathe): Promise<{ job: Job; task: Task }> {
  const job = await lathe.createJob({
    tasks: { import: { operation: 'import/upload' }, export: { operation: 'export/url', input: 'import' } },
  });
  const task = job.tasks?.find(({ name }) => name === 'import');
  if (!task) throw new Error('The job has no upload.');
  return { job, task };
}

/** Returns the digest of what an upload has become. */
async function storedDigest(lathe: Lathe, job: Job): Promise<string> {
  const done = await lathe.wait(job);
  const file = done.tasks?.find(({ name }) => name === 'export')?.result.files?.[0];
  if (!file) throw new Error(`The job has no file: ${JSON.stringify(done)}`);
  return sha256(lathe.read(file));
}

describe('the upload of a file of more than 100 MB', () => {
  test('is sent in parts, with progress', async () => {
    const { lathe, parts } = watched();
    const { job, task } = await uploadTask(lathe);
    const progress: number[] = [];

    await lathe.upload(task, path, { onProgress: ({ loaded }) => progress.push(loaded) });

    expect(parts.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(progress).toEqual(progress.toSorted((left, right) => left - right));
    expect(progress.at(-1)).toBe(size);
    expect(await storedDigest(lathe, job)).toBe(digest);
  });

  test('that breaks off at 70 % resumes at 70 %', async () => {
    const broken = watched((_sent, part) => part <= 5);
    const { job, task } = await uploadTask(broken.lathe);
    await expect(broken.lathe.upload(task, path)).rejects.toMatchObject({ errorCode: 'unreachable' });

    const { lathe, parts } = watched();
    const progress: number[] = [];
    await lathe.upload(task, path, { onProgress: ({ loaded }) => progress.push(loaded) });

    expect(broken.parts).toHaveLength(5);
    expect([...broken.parts, ...parts].sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect((progress[0] ?? 0) / size).toBeGreaterThan(0.7);
    expect(await storedDigest(lathe, job)).toBe(digest);
  });

  test('is a stream that can be read once', async () => {
    const { lathe, parts } = watched();
    const { job, task } = await uploadTask(lathe);

    await lathe.upload(task, createReadStream(path), { filename: 'stream.bin', size });

    expect(parts.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await storedDigest(lathe, job)).toBe(digest);
  });

  test('fails if the file becomes shorter, and if it is longer than declared', async () => {
    const { lathe } = watched();
    const { task } = await uploadTask(lathe);

    const longer = lathe.upload(task, createReadStream(path), { filename: 'a', size: size + 1 });
    await expect(longer).rejects.toMatchObject({ errorCode: 'size_changed' });
    const shorter = lathe.upload(task, createReadStream(path), { filename: 'a', size: size - 1 });
    await expect(shorter).rejects.toMatchObject({ errorCode: 'size_changed' });
  });

  test('stops when it is aborted', async () => {
    const controller = new AbortController();
    const { lathe } = watched((sent) => {
      if (sent === 2) controller.abort();
      return true;
    });
    const { task } = await uploadTask(lathe);
    await expect(lathe.upload(task, path, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

/** A page with Uppy and nothing of ours. */
const uppyPage = `
  import Uppy from '@uppy/core';
  import AwsS3 from '@uppy/aws-s3';

  const contentOf = (bytes) => {
    const content = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += 1000) content[at] = at % 251;
    return new Blob([content]);
  };
  window.upload = async (endpoint, name, bytes, breaksAt) => {
    const uppy = new Uppy().use(AwsS3, { companionEndpoint: endpoint, shouldUseMultipart: ({ size }) => size > 1_000_000 });
    const parts = [];
    const breaks = new Promise((resolve) => uppy.on('s3-multipart:part-uploaded', (_file, { PartNumber }) => {
      parts.push(PartNumber);
      if (parts.length === breaksAt) { uppy.pauseAll(); resolve(); }
    }));
    uppy.addFile({ name, data: contentOf(bytes) });
    const done = uppy.upload();
    if (breaksAt) {
      await breaks;
      window.uploadedBefore = parts.length;
      uppy.resumeAll();
    }
    const { successful, failed } = await done;
    return { parts, urls: successful.map(({ uploadURL }) => uploadURL), errors: failed.map(({ error }) => error) };
  };
`;

interface UppyOutcome {
  parts: number[];
  urls: string[];
  errors: string[];
}

describe('Uppy, with only the endpoint of a form', () => {
  const partsOfUppy = 5 * mebibyte;
  let tab: Awaited<ReturnType<Awaited<ReturnType<typeof startChromium>>['newPage']>>;
  const closing = new AsyncDisposableStack();

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: uppyPage, resolveDir: process.cwd() },
      bundle: true,
      format: 'esm',
      write: false,
      logLevel: 'silent',
    });
    const site = closing.use(
      await startFileServer((request, response) => {
        const isScript = request.url === '/uppy.js';
        response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
        response.end(isScript ? outputFiles[0]?.text : '<!doctype html><script type="module" src="/uppy.js"></script>');
      }),
    );
    const browser = await startChromium();
    closing.defer(() => browser.close());
    tab = await browser.newPage();
    await tab.goto(site.url);
    await tab.waitForFunction('window.upload !== undefined');
  });

  afterAll(() => closing.disposeAsync());

  const upload = async (...given: [endpoint: string | undefined, name: string, bytes: number, breaksAt?: number]) => {
    const result = await tab.evaluate(`window.upload(...${JSON.stringify(given)}).then(JSON.stringify)`);
    const outcome: UppyOutcome = JSON.parse(String(result));
    return outcome;
  };

  test.each([
    ['a small file, by the form', 1000, undefined, []],
    ['a large file, in parts', 2 * partsOfUppy + 1, undefined, [1, 2, 3]],
    ['a large file that is paused after two thirds, and resumed', 2 * partsOfUppy + 1, 2, [1, 2, 3]],
  ])('uploads %s', async (_name, bytes, breaksAt, parts) => {
    const lathe = new Lathe({ url: stack.url, key: stack.apiKey });
    const { job, task } = await uploadTask(lathe);

    const outcome = await upload(task.result.form?.endpoint, 'größe.bin', bytes, breaksAt);

    expect(outcome.errors).toEqual([]);
    expect(outcome.parts).toEqual(parts);
    const done = await lathe.wait(job);
    const file = done.tasks?.find(({ name }) => name === 'export')?.result.files?.[0];
    expect(file).toMatchObject({ filename: 'größe.bin', size: bytes });
  });

  test('reports that a task no longer waits for its file', async () => {
    const lathe = new Lathe({ url: stack.url, key: stack.apiKey });
    const { task } = await uploadTask(lathe);
    await lathe.request('POST', `/v1/process/tasks/${task.id}/cancel`);

    const { errors } = await upload(task.result.form?.endpoint, 'a.bin', partsOfUppy + 1);

    expect(errors).toHaveLength(1);
  });
});
