import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HeadObjectCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ffmpegPath } from '../../functions/engines/media/programs.ts';
import { startStack, type TestStack } from '../events/stack.ts';
import { download, formOf, postForm, taskOf } from '../support/client.ts';
import { clientAs, denialsOf } from '../support/roles.ts';
import { actAs, functionOf } from '../support/running-stack.ts';
import { longVideo, videoFacts } from '../support/split-video.ts';
import { storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

/** Larger outputs are stored in parts. */
const formBytes = 50_000_000;
/** Sound of this duration takes more than one part: 123 MB without compression. */
const seconds = 700;

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  stack = await stackWithForms({ LATHE_SPLIT_AT_ONCE: '0' }, formBytes);
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a stack whose forms for media take this many bytes. */
function stackWithForms(environment: Record<string, string>, bytes: number): Promise<TestStack> {
  return startStack(environment, {
    alter: (altered) => {
      functionOf(altered, { worker: 'media' }).environment.LATHE_FORM_BYTES = String(bytes);
    },
  });
}

async function silence(duration: number): Promise<string> {
  const path = join(folder, `${duration}.flac`);
  const source = `anullsrc=r=44100:cl=stereo:d=${duration}`;
  await promisify(execFile)(ffmpegPath(), ['-y', '-v', 'error', '-f', 'lavfi', '-i', source, path]);
  return path;
}

async function start(path: string, output: Record<string, unknown>, { client } = stack) {
  const job = await client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', ...output },
  });
  await postForm(formOf(taskOf(job, 'upload')), path, await readFile(path));
  return { id: job.id, task: taskOf(job, 'convert').id };
}

async function incompleteOf(task: string): Promise<string[]> {
  const s3 = new S3Client(await clientAs(stack, 'LifecycleSweep', 's3'));
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: stack.stack.buckets[0]?.name }));
  return Uploads.flatMap(({ Key = '' }) => (Key.includes(task) ? [Key] : []));
}

test('an output that is too large for a form is stored in parts and is not copied', async () => {
  const { id, task } = await start(await silence(seconds), { output_format: 'wav' });
  const { status, result } = taskOf(await stack.client.waitForJob(id, { seconds: 200 }), 'convert');
  expect(status, JSON.stringify(result)).toBe('completed');

  const content = await download(result.url ?? '');
  expect(content.length).toBeGreaterThan(seconds * 44_100 * 4);
  expect(content.subarray(0, 4).toString()).toBe('RIFF');
  const worker = await actAs(stack, { worker: 'media' });
  const stored = await storedFiles(worker, task);
  expect(stored).toEqual([expect.stringMatching(/\/1\/large$/)]);
  const head = { Bucket: stack.stack.buckets[0]?.name, Key: stored[0] };
  const { ETag } = await new S3Client(worker.client('s3')).send(new HeadObjectCommand(head));
  expect(ETag).toMatch(/-2"$/);
  expect(await incompleteOf(task)).toEqual([]);
});

test('a run with a smaller output ends the upload that it did not need', async () => {
  const { id, task } = await start(await silence(2), { output_format: 'wav' });
  expect(taskOf(await stack.client.waitForJob(id, { seconds: 100 }), 'convert').status).toBe('completed');

  expect(await storedFiles(await actAs(stack, { worker: 'media' }), task)).toEqual([expect.stringMatching(/\/1\/0$/)]);
  expect(await incompleteOf(task)).toEqual([]);
});

test('a canceled run ends its upload', async () => {
  const options = { preset: 'slow', video_crf: 20 };
  const { task } = await start(await longVideo(folder, 8), { output_format: 'webm', options });
  await until('the upload has begun', async () => (await incompleteOf(task)).length === 1, { seconds: 60 });
  await stack.client.call('POST', `/v1/process/tasks/${task}/cancel`);

  await until('the upload has ended', async () => (await incompleteOf(task)).length === 0, { seconds: 20 });
  expect(denialsOf(stack)).toEqual([]);
});

test('the join of a split run stores its output in parts', async () => {
  await using splitting = await stackWithForms({ LATHE_SPLIT_SECONDS: '1' }, 100_000);
  const path = await longVideo(folder);
  const options = { video_codec: 'libx264', preset: 'veryfast', video_crf: 30 };
  const { id, task } = await start(path, { output_format: 'mp4', options }, splitting);
  const { status, result } = taskOf(await splitting.client.waitForJob(id, { seconds: 200 }), 'convert');
  expect(status, JSON.stringify(result)).toBe('completed');
  expect(result.estimate?.parts).toBeGreaterThan(3);

  const worker = await actAs(splitting, { worker: 'media' });
  const stored = await until('only the output is left', async () => {
    const keys = await storedFiles(worker, task);
    return keys.length === 1 ? keys : undefined;
  });
  expect(stored).toEqual([expect.stringMatching(/\/1\/large$/)]);
  const made = join(folder, 'joined.mp4');
  await writeFile(made, await download(result.url ?? ''));
  expect((await videoFacts(made)).frames).toBe((await videoFacts(path)).frames);
  expect(denialsOf(splitting)).toEqual([]);
});
