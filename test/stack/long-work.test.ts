import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpegPath } from '../../functions/engines/media/programs.ts';
import { dataUri, formOf, postForm, type TaskView, taskOf } from '../support/client.ts';
import { allGone, descendantsOf } from '../support/processes.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
let service: JoinedService;
let folder: string;

beforeAll(async () => {
  [service, folder] = await Promise.all([joinService(), mkdtemp(join(tmpdir(), 'lathe-test-'))]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

// Again where the machine was busy with something else for the two seconds.
test('A long conversion tells how far it is, and canceling it ends the program within two seconds', {
  retry: 2,
}, async () => {
  const path = join(folder, 'long.mp4');
  // Quick to make, slow to convert, and of so few pixels that the encoder soon has enough of it to begin.
  await run(ffmpegPath(), [
    // It is there already where this is an attempt after the first.
    ...['-y', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25:duration=120'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', path],
  ]);
  const job = await service.client.createJob({
    upload: { operation: 'import/upload' },
    convert: {
      operation: 'convert',
      input: 'upload',
      output_format: 'webm',
      options: { preset: 'slow', video_crf: 10 },
    },
  });
  await postForm(formOf(taskOf(job, 'upload')), 'long.mp4', await readFile(path));

  const { id } = taskOf(job, 'convert');
  const shown = new Set<number>();
  await until('progress was shown twice', async () => {
    const { status, progress } = await service.client.showTask(id);
    expect(['created', 'queued', 'processing'], 'it ended before it could be canceled').toContain(status);
    if (progress !== undefined && progress > 0) shown.add(progress);
    return shown.size >= 2;
  });
  expect([...shown]).toEqual([...shown].toSorted((one, other) => one - other));

  // Others convert videos at the same time, but none to VP9.
  const isOwn = ({ command }: { command: string }) =>
    command.startsWith(`${ffmpegPath()} `) && command.includes('libvpx-vp9');
  const programs = (await descendantsOf(service.pid)).filter(isOwn);
  expect(programs).not.toHaveLength(0);
  const { body } = await service.client.call<TaskView>('POST', `/v1/process/tasks/${id}/cancel`);
  const canceledAt = Date.now();
  expect(body.status).toBe('canceled');
  await allGone(programs);
  expect(Date.now() - canceledAt).toBeLessThan(2_000);
});

test('What cannot be converted in time fails at once, with the time that it would take', async () => {
  const path = join(folder, 'small.mp4');
  await run(ffmpegPath(), [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'color=gray:size=64x48:rate=25:duration=60'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', path],
  ]);
  const { id } = await service.client.createJob({
    import: { operation: 'import/base64', file: dataUri(await readFile(path)), filename: 'small.mp4' },
    convert: {
      operation: 'convert',
      input: 'import',
      output_format: 'gif',
      options: { video_custom_width_gif: 4096, gif_fps: 25 },
    },
  });
  const { result } = taskOf(await service.client.waitForJob(id), 'convert');

  expect(result.errorCode).toBe('processing_failed');
  expect(result.msg).toMatch(
    /^This would take about \d+ minutes, but the limit is 15 minutes\. To stay within it, choose a resolution of at most \d+ × \d+, or trim the file to at most \d+ seconds\.$/,
  );
});
