import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startStack, type TestStack } from '../events/stack.ts';
import { isBroad } from '../support/breadth.ts';
import { formOf, postForm, type TaskView, taskOf } from '../support/client.ts';
import { inMilliseconds, usageOf, usedBy } from '../support/metered-jobs.ts';
import { actAs, functionOf } from '../support/running-stack.ts';
import { longVideo, splitVideo, videoFacts } from '../support/split-video.ts';
import { storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';

/** Kills of coordinators and of the engines of parts. A task gives up after five lost workers, so each one loses two. */
const turns = ['engine', 'worker', 'engine', 'worker', 'engine'] as const;
const [rounds, kills] = isBroad ? [10, turns.length] : [1, 2];

test(`Each split job completes with one right output although workers and engines are killed ${rounds * kills} times`, {
  timeout: rounds * 400_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  try {
    await using stack = await startStack({ LATHE_SPLIT_SECONDS: '1', LATHE_SWEEP_SECONDS: '5' });
    const source = await longVideo(folder);
    const wanted = await videoFacts(source);
    const jobs = [];
    for (let round = 0; round < rounds; round++) {
      const { client } = stack;
      const created = await client.createJob(splitVideo());
      await postForm(formOf(taskOf(created, 'upload')), 'long.mkv', await readFile(source));
      await strikeAtRandom(stack, taskOf(created, 'convert').id);
      const job = await client.waitForJob(created.id, { seconds: 300 });
      const task = taskOf(job, 'convert');
      expect(task.status, JSON.stringify(task.result)).toBe('completed');
      expect(task.result.files).toHaveLength(1);
      const path = join(folder, `${round}.mp4`);
      await writeFile(path, Buffer.from(await (await fetch(task.result.url ?? '')).arrayBuffer()));
      const made = await videoFacts(path);
      expect(made.frames).toBe(wanted.frames);
      expect(made.streams).toEqual(['video', 'audio']);
      const caller = await actAs(stack, { worker: 'media' });
      await until('only the output is left', async () => (await storedFiles(caller, task.id)).length === 1);
      jobs.push(job);
    }
    const usage = await usageOf(stack.client);
    expect(usage.tasks).toBe(rounds);
    expect(inMilliseconds(usage.conversionSeconds)).toBe(usedBy(jobs));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Kills workers and engines in turn while a task runs, each at a random time. */
async function strikeAtRandom(stack: TestStack, id: string): Promise<void> {
  const functions = {
    worker: functionOf(stack.stack, { worker: 'media' }),
    engine: functionOf(stack.stack, 'functions/engines/media/handler.ts'),
  };
  for (const kind of turns.slice(0, kills)) {
    const isRunning = ({ status, result }: TaskView) => status === 'completed' || (result.parts?.running ?? 0) > 0;
    await until('parts are running', async () => isRunning(await stack.client.showTask(id)), { seconds: 120 });
    await pause(Math.random() * 2_000);
    stack.killFunction(functions[kind]);
  }
}
