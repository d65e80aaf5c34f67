import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ffmpegPath } from '../../functions/engines/media/programs.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { formOf, postForm, type TaskView, taskOf } from '../support/client.ts';
import { inMilliseconds, usageOf, usedBy } from '../support/metered-jobs.ts';
import { allGone, descendantsOf } from '../support/processes.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { longVideo, picturesOf, splitVideo, videoFacts } from '../support/split-video.ts';
import { storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const run = promisify(execFile);
let service: RunningService;
let folder: string;
let source: string;

beforeAll(async () => {
  [service, folder] = await Promise.all([
    startService({ LATHE_SPLIT_SECONDS: '1', LATHE_MINUTES_PER_MONTH: '100' }),
    mkdtemp(join(tmpdir(), 'lathe-test-')),
  ]);
  source = await longVideo(folder);
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

async function startSplit(): Promise<string> {
  const job = await service.client.createJob(splitVideo());
  await postForm(formOf(taskOf(job, 'upload')), 'long.mkv', await readFile(source));
  return job.id;
}

const worker = () => service.as({ worker: 'media' });

test('A long video is converted in parts, whose progress rises, and its minutes count once', async () => {
  const id = await startSplit();
  const shown: TaskView[] = [];
  const job = await until(
    'the job has ended',
    async () => {
      const state = await service.client.showJob(id);
      const task = taskOf(state, 'convert');
      if (task.status === 'processing') shown.push(task);
      return state.status === 'completed' || state.status === 'failed' ? state : undefined;
    },
    { seconds: 200, everyMs: 200 },
  );
  const task = taskOf(job, 'convert');
  expect(task.status, JSON.stringify(task.result)).toBe('completed');

  const { estimate, parts, url } = task.result;
  expect(estimate?.parts).toBeGreaterThan(3);
  expect(parts).toBeUndefined();
  const percents = shown.flatMap(({ progress }) => progress ?? []);
  expect(percents).toEqual([...percents].toSorted((one, other) => one - other));
  const seen = shown.flatMap(({ result }) => result.parts ?? []);
  expect(seen.at(-1)?.total).toBe(estimate?.parts);
  expect(seen.some(({ done }) => done > 0)).toBe(true);

  const path = join(folder, 'out.mp4');
  await writeFile(path, Buffer.from(await (await fetch(url ?? '')).arrayBuffer()));
  const [made, wanted] = [await videoFacts(path), await videoFacts(source)];
  expect(made.frames).toBe(wanted.frames);
  expect(Math.abs(made.seconds - wanted.seconds)).toBeLessThan(0.1);
  expect(made.streams).toEqual(['video', 'audio']);

  const stored = await storedFiles(await worker(), task.id);
  expect(stored.filter((key) => !key.endsWith('/0') || key.includes('/parts/') || key.includes('/posted/'))).toEqual(
    [],
  );
  const usage = await usageOf(service.client);
  expect(usage.tasks).toBe(1);
  expect(inMilliseconds(usage.conversionSeconds)).toBe(usedBy([job]));
  expect(Math.round((usage.month.remainingMinutes ?? 0) * 60_000)).toBe(100 * 60_000 - usedBy([job]));
});

test('The parts of an MP4 read their own bytes of it, and have all of its pictures', async () => {
  const path = await longVideo(folder, 60, 'long.mp4');
  const lossless = { video_codec: 'libx264', preset: 'ultrafast', video_crf: 0 };
  const { upload, convert } = splitVideo();
  const job = await service.client.createJob({ upload, convert: { ...convert, options: lossless } });
  await postForm(formOf(taskOf(job, 'upload')), 'long.mp4', await readFile(path));
  const task = taskOf(await service.client.waitForJob(job.id, { seconds: 200 }), 'convert');
  expect(task.status, JSON.stringify(task.result)).toBe('completed');
  expect(task.result.estimate?.parts).toBeGreaterThan(3);
  const out = join(folder, 'lossless.mp4');
  await writeFile(out, Buffer.from(await (await fetch(task.result.url ?? '')).arrayBuffer()));
  expect(await picturesOf(out)).toEqual(await picturesOf(path));
  const logs = join(service.dataDirectory, 'logs');
  const [name = ''] = (await readdir(logs)).filter((each) => each.startsWith('EnginemediaWorker'));
  const log = await readFile(join(logs, name), 'utf8');
  expect(log).toContain('the run is split');
  expect(log).not.toContain('a part reads the whole source');
});

// Repeated if the machine was busy with something else for the two seconds.
test('Canceling it ends the programs of all parts within two seconds, and leaves nothing in the bucket', {
  retry: 2,
}, async () => {
  const id = await startSplit();
  const task = await until('a part is done', async () => {
    const found = taskOf(await service.client.showJob(id), 'convert');
    return (found.result.parts?.done ?? 0) > 0 ? found : undefined;
  });
  const isOwn = ({ command }: { command: string }) => command.startsWith(`${ffmpegPath()} `);
  const programs = await until('programs are running', async () => {
    const found = (await descendantsOf(service.pid)).filter(isOwn);
    return found.length > 0 ? found : undefined;
  });
  await service.client.call<TaskView>('POST', `/v1/process/tasks/${task.id}/cancel`);
  const canceledAt = Date.now();
  await allGone(programs);
  expect(Date.now() - canceledAt).toBeLessThan(2_000);
  const caller = await worker();
  await until('nothing is left', async () => (await storedFiles(caller, task.id)).length === 0);
  expect((await descendantsOf(service.pid)).filter(isOwn)).toEqual([]);
});

test('A target size is shared by all parts', async () => {
  const path = await longVideo(await mkdtemp(join(folder, 'short-')), 12);
  const megabytes = 1.2;
  const job = await service.client.createJob({
    upload: { operation: 'import/upload' },
    compress: {
      operation: 'compress',
      input: 'upload',
      output_format: 'mp4',
      options: { compress_video: 'by_size', video_compress_max_filesize: megabytes },
    },
  });
  await postForm(formOf(taskOf(job, 'upload')), 'short.mkv', await readFile(path));
  const task = taskOf(await service.client.waitForJob(job.id, { seconds: 200 }), 'compress');
  expect(task.status, JSON.stringify(task.result)).toBe('completed');
  // Each chunk is measured before it is encoded.
  expect(task.result.estimate?.parts).toBeGreaterThan(6);
  expect(task.result.split_reason).toBeUndefined();
  const made = join(folder, 'sized.mp4');
  await writeFile(made, Buffer.from(await (await fetch(task.result.url ?? '')).arrayBuffer()));
  const { size } = await stat(made);
  expect(size).toBeLessThanOrEqual(megabytes * 1e6);
  expect(size).toBeGreaterThan(megabytes * 1e6 * 0.95);
  expect((await videoFacts(made)).frames).toBe((await videoFacts(path)).frames);
  await until('only the output is left', async () => (await storedFiles(await worker(), task.id)).length === 1);
});

test('Ten split tasks in a row are no loop to Lambda', { ...onlyInBreadth, timeout: 900_000 }, async () => {
  const path = join(folder, 'short.mkv');
  await run(ffmpegPath(), [
    ...['-y', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25:duration=45'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', path],
  ]);
  // In turn, because a video that has the codec already is copied.
  const steps = Array.from({ length: 10 }, (_, index) => [
    `convert${index}`,
    {
      operation: 'convert',
      input: index === 0 ? 'upload' : `convert${index - 1}`,
      output_format: 'mkv',
      options: { video_codec: index % 2 === 0 ? 'ffv1' : 'libx264' },
    },
  ]);
  const job = await service.client.createJob({ upload: { operation: 'import/upload' }, ...Object.fromEntries(steps) });
  await postForm(formOf(taskOf(job, 'upload')), 'short.mkv', await readFile(path));
  const ended = await service.client.waitForJob(job.id, { seconds: 800 });
  expect(ended.tasks.map(({ status, result }) => [status, result.msg])).toEqual(
    ended.tasks.map(() => ['completed', undefined]),
  );
  const parts = ended.tasks.slice(1).map(({ result }) => result.estimate?.parts ?? 0);
  expect(Math.min(...parts), JSON.stringify(ended.tasks.map(({ result }) => result))).toBeGreaterThan(1);
});
