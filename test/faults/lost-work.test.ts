import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, type ExpectStatic, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { type Client, dataUri, download, filesOf, formOf, type JobView, postForm, taskOf } from '../support/client.ts';
import { photograph, twoHalves } from '../support/images.ts';
import { allGone, descendantsOf, type ProcessView } from '../support/processes.ts';
import { functionOf, type RunningService, startAlteredStack, startService } from '../support/running-stack.ts';
import { messagesInOwnQueue, sendToOwnQueue, storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';

const imageWorker = { worker: 'image' };
const transferWorker = 'functions/transfers/handler.ts';

/** A message comes back 35 seconds after its worker fell silent; some of these tests wait for that in turn. */
const minutes = 12;
const timeout = { seconds: minutes * 60 - 10 };

/** The sweep reads the dead letters. */
const sweepOften = { LATHE_SWEEP_SECONDS: '5' };

/** Creates a job whose conversion takes seconds, and waits until it has begun. */
async function startSlowJob(client: Client): Promise<JobView> {
  const job = await client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', output_format: 'avif' },
    export: { operation: 'export/url', input: 'convert' },
  });
  await postForm(formOf(taskOf(job, 'upload')), 'large.png', await photograph(900, 700));
  const convert = taskOf(job, 'convert').id;
  await until('the conversion has begun', async () => (await client.showTask(convert)).status === 'processing', {
    everyMs: 50,
  });
  return job;
}

async function expectOneOutput(service: RunningService, job: JobView): Promise<void> {
  const done = await service.client.waitForJob(job.id, timeout);
  expect(done.status, JSON.stringify(done.tasks.map(({ result }) => result))).toBe('completed');
  for (const [name, worker] of [
    ['convert', imageWorker],
    ['export', transferWorker],
  ] as const) {
    expect(await storedFiles(await service.as(worker), taskOf(job, name).id)).toHaveLength(1);
    expect(filesOf(done, name)).toHaveLength(1);
  }
  const content = await download(taskOf(done, 'export').result.url ?? '');
  expect(await sharp(content).metadata()).toMatchObject({ format: 'heif', width: 900, height: 700 });
}

/** Waits until the service has a process with these words in its command line. */
function findProcess(service: RunningService, ...words: string[]): Promise<number> {
  return findWhere(service, words.join(' '), async ({ command }) => words.every((word) => command.includes(word)));
}

/** Waits until the service has an environment of a function with this variable. */
function findEnvironment(service: RunningService, variable: string): Promise<number> {
  return findWhere(service, variable, async ({ pid, command }) => {
    if (!command.includes('runtime-client/src/main')) return false;
    const variables = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    return variables.split('\0').includes(variable);
  });
}

function findWhere(
  service: RunningService,
  what: string,
  matches: (process: ProcessView) => Promise<boolean>,
): Promise<number> {
  return until(`a process runs ${what}`, async () => {
    for (const candidate of await descendantsOf(service.pid)) if (await matches(candidate)) return candidate.pid;
    return undefined;
  });
}

/** A service for tests that do not end it, one at a time: they find a process by what runs in it. */
let shared: RunningService;
let turn: Promise<unknown> = Promise.resolve();

beforeAll(async () => {
  shared = await startService();
});
afterAll(() => shared?.stop());

function withShared(work: (service: RunningService) => Promise<void>): Promise<void> {
  const done = turn.then(() => work(shared));
  turn = done.catch(() => {});
  return done;
}

/** Creates jobs while the service is killed so many times, and expects each to be done once. */
async function killWhileCreating(rounds: number, expect: ExpectStatic): Promise<void> {
  await using service = await startService(sweepOften);
  const file = dataUri(await twoHalves(64, 64));
  const answered = new Set<string>();
  const pauses: number[] = [];

  for (let round = 0; round < rounds; round++) {
    let alive = true;
    const creators = Array.from({ length: 6 }, async () => {
      while (alive) {
        try {
          const { id } = await service.client.createJob({
            import: { operation: 'import/base64', file, filename: 'a.png' },
            convert: { operation: 'convert', input: 'import', output_format: 'webp' },
            export: { operation: 'export/url', input: 'convert' },
          });
          answered.add(id);
        } catch {
          // Cut off by a kill; nothing was promised.
        }
      }
    });
    const enough = answered.size + 5;
    await until('some jobs are answered', () => answered.size >= enough, { ...timeout, everyMs: 5 });
    const pause = Math.random() * 150;
    pauses.push(pause);
    await until('a random moment has come', after(pause), { everyMs: 1 });
    await service.kill('SIGKILL');
    alive = false;
    await Promise.all(creators);
    await service.start();
  }

  const worker = await service.as(imageWorker);
  for (const id of answered) {
    const job = await service.client.waitForJob(id, timeout);
    const note = `pauses ${pauses.join(', ')}: ${JSON.stringify(job.tasks.map(({ result }) => result))}`;
    expect(job.status, note).toBe('completed');
    for (const { id: taskId } of job.tasks) expect(await storedFiles(worker, taskId), note).toHaveLength(1);
  }
}

describe.concurrent('work is not lost', { timeout: minutes * 60_000 }, () => {
  test('when the service is killed while a job runs and started again', async ({ expect }) => {
    await using service = await startService();
    const job = await startSlowJob(service.client);
    const processes = await descendantsOf(service.pid);
    expect(processes.length).toBeGreaterThan(0);

    await service.kill('SIGKILL');
    await allGone(processes);
    await service.start();

    await expectOneOutput(service, job);
  });

  test('when the process of an engine is killed half-way', () =>
    withShared(async (service) => {
      const job = await startSlowJob(service.client);

      process.kill(await findProcess(service, 'sandbox/child.ts', 'image/run.ts'), 'SIGKILL');

      await expectOneOutput(service, job);
    }));

  test('when the process of a worker is killed half-way', () =>
    withShared(async (service) => {
      const job = await startSlowJob(service.client);

      process.kill(await findEnvironment(service, 'LATHE_ENGINE=image'), 'SIGKILL');

      await expectOneOutput(service, job);
    }));

  test('when the function of an engine is killed half-way', () =>
    withShared(async (service) => {
      const job = await startSlowJob(service.client);

      process.kill(
        await findEnvironment(service, `LAMBDA_TASK_ROOT=${projectRoot}/functions/engines/image`),
        'SIGKILL',
      );

      await expectOneOutput(service, job);
    }));

  test('nor done twice when a message is delivered before, during and after its work', ({ expect }) =>
    withShared(async (service) => {
      const worker = await service.as(imageWorker);
      const early = await service.client.createJob({
        upload: { operation: 'import/upload' },
        convert: { operation: 'convert', input: 'upload', output_format: 'webp' },
      });
      const drained = () => until('the queue is empty', async () => (await messagesInOwnQueue(worker)) === 0);

      await sendToOwnQueue(worker, JSON.stringify({ taskId: taskOf(early, 'convert').id, engine: 'image' }));
      await drained();
      expect((await service.client.showTask(taskOf(early, 'convert').id)).status).toBe('created');

      const job = await startSlowJob(service.client);
      const { id: taskId } = taskOf(job, 'convert');
      await sendToOwnQueue(worker, JSON.stringify({ taskId, engine: 'image' }));
      await expectOneOutput(service, job);
      await drained();
      const before = await service.client.showJob(job.id);
      const files = await storedFiles(worker, taskId);

      await sendToOwnQueue(worker, JSON.stringify({ taskId, engine: 'image' }));
      await drained();
      expect(await storedFiles(worker, taskId)).toEqual(files);
      expect(await service.client.showJob(job.id)).toEqual(before);
    }));

  test('when the service is killed twice while jobs are being created', ({ expect }) => killWhileCreating(2, expect));

  test('when the service is killed again and again while jobs are being created', onlyInBreadth, ({ expect }) =>
    killWhileCreating(5, expect),
  );

  test('for ever: a task whose every worker crashes goes to the dead letters and fails', async ({ expect }) => {
    await using stack = await startAlteredStack((altered) => {
      functionOf(altered, imageWorker).entry = fileURLToPath(new URL('fixtures/crashing-worker.ts', import.meta.url));
    }, sweepOften);
    const { id } = await stack.client.createJob({
      import: { operation: 'import/base64', file: dataUri(await twoHalves(8, 8)), filename: 'a.png' },
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
      export: { operation: 'export/url', input: 'convert' },
    });

    const job = await stack.client.waitForJob(id, timeout);

    expect(job).toMatchObject({ status: 'failed', result: { errorCode: 'task_failed' } });
    expect(taskOf(job, 'convert')).toMatchObject({ status: 'failed', result: { errorCode: 'processing_failed' } });
    expect(taskOf(job, 'export')).toMatchObject({ status: 'failed' });
    const crashes = stack.reports.filter((line) => line.includes('Runtime exited with error: signal: SIGKILL'));
    expect(crashes.length).toBeGreaterThanOrEqual(3);
    expect(stack.reports.join('\n')).toContain('no worker could finish the task');
  });
});

function after(milliseconds: number): () => boolean {
  const moment = Date.now() + milliseconds;
  return () => Date.now() >= moment;
}
