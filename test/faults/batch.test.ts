import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { synthesize } from '../../infra/build/synth.ts';
import { startStack, type TestStack } from '../events/stack.ts';
import { formOf, postForm, taskOf } from '../support/client.ts';
import { inMilliseconds, usageOf, usedBy } from '../support/metered-jobs.ts';
import { allGone, descendantsOf, type ProcessView } from '../support/processes.ts';
import { denialsOf } from '../support/roles.ts';
import { actAs, type Caller, functionOf } from '../support/running-stack.ts';
import { longVideo, videoFacts } from '../support/split-video.ts';
import { storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 300_000 });

/** A worker with this timeout gives its engine eight seconds. */
const workerSeconds = 18;
const videoSeconds = 2;

let stack: TestStack;
let folder: string;
let source: string;
let worker: Caller;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  const template = await synthesize(join(folder, 'assembly'), { 'media.batchHours': '1', page: 'false' });
  stack = await startStack(
    { LATHE_SPLIT_AT_ONCE: '0', LATHE_MINUTES_PER_MONTH: '100', LATHE_SWEEP_SECONDS: '5' },
    {
      template,
      alter: (altered) => {
        functionOf(altered, { worker: 'media' }).timeoutSeconds = workerSeconds;
      },
    },
  );
  worker = await actAs(stack, { worker: 'media' });
  source = await longVideo(folder, videoSeconds);
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a conversion that is neither split nor done in eight seconds. */
async function startLong() {
  const job = await stack.client.createJob({
    upload: { operation: 'import/upload' },
    convert: {
      operation: 'convert',
      input: 'upload',
      output_format: 'webm',
      options: { preset: 'slow', video_crf: 20 },
    },
  });
  await postForm(formOf(taskOf(job, 'upload')), 'long.mkv', await readFile(source));
  return { id: job.id, task: taskOf(job, 'convert').id };
}

const isJob = ({ command }: ProcessView) => command.includes('runtime/job/main.ts');

/** Waits for the process of a job, other than a previous one. */
function jobProcess(previous?: ProcessView): Promise<ProcessView> {
  return until(
    'a job runs',
    async () => (await descendantsOf(process.pid)).find((each) => isJob(each) && each.pid !== previous?.pid),
    { seconds: 120 },
  );
}

/** Waits until a job encodes, and returns its processes. */
function encoding(): Promise<ProcessView[]> {
  return until(
    'a job encodes',
    async () => {
      const job = (await descendantsOf(process.pid)).find(isJob);
      const own = job ? [job, ...(await descendantsOf(job.pid))] : [];
      return own.some(({ command }) => command.includes('libvpx-vp9')) ? own : undefined;
    },
    { seconds: 120 },
  );
}

test('A conversion that fits no function completes on AWS Batch, although its worker and its job are killed', async () => {
  const { id, task: taskId } = await startLong();
  const first = await jobProcess();
  stack.killFunction(functionOf(stack.stack, { worker: 'media' }));
  process.kill(first.pid, 'SIGKILL');
  await jobProcess(first);
  stack.killFunction(functionOf(stack.stack, { worker: 'media' }));

  const job = await stack.client.waitForJob(id, { seconds: 300 });
  const task = taskOf(job, 'convert');
  expect(task.status, JSON.stringify(task.result)).toBe('completed');
  expect(task.result.files).toHaveLength(1);
  const path = join(folder, 'out.webm');
  await writeFile(path, Buffer.from(await (await fetch(task.result.url ?? '')).arrayBuffer()));
  const [made, wanted] = [await videoFacts(path), await videoFacts(source)];
  expect(made.frames).toBe(wanted.frames);
  expect(made.streams).toEqual(['video', 'audio']);

  await until('only the output is left', async () => (await storedFiles(worker, taskId)).length === 1);
  const usage = await usageOf(stack.client);
  expect(usage.tasks).toBe(1);
  expect(inMilliseconds(usage.conversionSeconds)).toBe(usedBy([job]));
  expect((await descendantsOf(process.pid)).filter(isJob)).toEqual([]);
});

test('Canceling it ends the job within two seconds after a worker notices, and leaves nothing in the bucket', {
  retry: 2,
}, async () => {
  const { task } = await startLong();
  const programs = await encoding();
  await stack.client.call('POST', `/v1/process/tasks/${task}/cancel`);
  const s3 = new S3Client(worker.client('s3'));
  const marker = { Bucket: stack.stack.buckets[0]?.name, Key: `revoked/${task}/1/batch` };
  await until('a worker has noticed', () => s3.send(new HeadObjectCommand(marker)).catch(() => undefined), {
    seconds: 60,
    everyMs: 50,
  });
  const noticedAt = Date.now();
  await allGone(programs);
  expect(Date.now() - noticedAt).toBeLessThan(2_000);
  await until('nothing is left', async () => (await storedFiles(worker, task)).length === 0);
});

test('A job that claims outputs that it has not stored fails its task, and nothing else', async () => {
  const { id, task } = await startLong();
  await encoding();
  const s3 = new S3Client(worker.client('s3'));
  const mailbox = (await storedFiles(worker, task)).find((key) => key.endsWith('/mailbox')) ?? '';
  const Key = mailbox.replace(/mailbox$/, 'posted/response');
  const claim = { type: 'done', outputs: [{ name: '../a.webm', format: 'webm', etag: '"0"' }], engineMs: 1 };
  const hostile = { Bucket: stack.stack.buckets[0]?.name, Key, Body: `${JSON.stringify(claim)}\n` };
  const ended = await until(
    'the task has ended',
    async () => {
      // The job itself stores its response as well.
      await s3.send(new PutObjectCommand(hostile));
      const state = await stack.client.showJob(id);
      return state.endedAt === null ? undefined : taskOf(state, 'convert');
    },
    { seconds: 120, everyMs: 200 },
  );
  expect(ended.status).toBe('failed');
  expect(ended.result.msg).toMatch(/^The engine's response was not valid/);
  await until('the job has ended', async () => (await descendantsOf(process.pid)).every((each) => !isJob(each)));
  expect(denialsOf(stack)).toEqual([]);
});
