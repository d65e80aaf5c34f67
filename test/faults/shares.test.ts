import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { longRunsKey } from '../../shared/aws/stores/long-runs.ts';
import { toAttributes } from '../../shared/aws/table.ts';
import { newId } from '../../shared/ids.ts';
import { Client, dataUri, taskOf } from '../support/client.ts';
import { clientAs } from '../support/roles.ts';
import { addUser, functionOf, startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

/** The long runs that one account may have on this machine. */
const share = availableParallelism();

let service: Awaited<ReturnType<typeof startAlteredStack>>;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  service = await startAlteredStack((stack) => {
    const worker = functionOf(stack, { worker: 'document' });
    worker.entry = fileURLToPath(new URL('fixtures/patient-worker.ts', import.meta.url));
    worker.environment.LATHE_TEST_FOLDER = folder;
  });
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function newAccount(): Promise<{ user: string; client: Client }> {
  const user = newId();
  return { user, client: new Client({ url: service.url, apiKey: await addUser(service, user) }) };
}

/** Creates a document's conversion and returns the ids of its job and task. */
async function convert(client: Client, filename: string): Promise<{ job: string; task: string }> {
  const job = await client.createJob({
    import: { operation: 'import/base64', file: dataUri(Buffer.from('text'), 'text/plain'), filename },
    convert: { operation: 'convert', input: 'import', output_format: 'pdf' },
  });
  return { job: job.id, task: taskOf(job, 'convert').id };
}

async function linesOf(what: 'begun' | 'aborted' | 'done'): Promise<string[]> {
  const text = await readFile(join(folder, 'runs'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line.startsWith(`${what} `) ? [line.slice(what.length + 1)] : []));
}

/** Returns the runs that have begun and not ended, by task and attempt. */
async function running(): Promise<string[]> {
  const ended = [...(await linesOf('aborted')), ...(await linesOf('done'))];
  return (await linesOf('begun')).filter((run) => !ended.includes(run));
}

async function recordedRuns(user: string): Promise<string[]> {
  const dynamodb = new DynamoDBClient(await clientAs(service, 'EnginedocumentWorker', 'dynamodb'));
  const table = service.stack.tables[0]?.name ?? '';
  const Keys = [toAttributes(longRunsKey(user, 'document'))];
  const { Responses } = await dynamodb.send(new BatchGetItemCommand({ RequestItems: { [table]: { Keys } } }));
  return Object.keys(Responses?.[table]?.[0] ?? {}).filter((name) => name.startsWith('run#'));
}

/** Gives an account more slow tasks than it may run at once, and waits until it has all its runs and no more. */
async function fillShare(client: Client, user: string) {
  const jobs = [];
  for (let count = 0; count < share + 2; count++) jobs.push(await convert(client, 'slow.txt'));
  await until('the account has its share', async () => {
    const [runs, recorded] = [await running(), await recordedRuns(user)];
    return runs.length === share && recorded.length === share;
  });
  const busy = (await running()).map((run) => run.split(' ')[0]);
  return { jobs, waiting: jobs.filter(({ task }) => !busy.includes(task)) };
}

test('an account gets its turn while another has all the long runs it may have, of which none is lost or done twice', async () => {
  const [first, second] = [await newAccount(), await newAccount()];
  const { jobs, waiting } = await fillShare(first.client, first.user);
  const before = await running();

  const { job } = await convert(second.client, 'quick.txt');

  expect((await second.client.waitForJob(job)).status).toBe('completed');
  expect(await running()).toEqual(before);
  for (const { task } of waiting)
    expect(['created', 'processing']).toContain((await first.client.showTask(task)).status);
  await writeFile(join(folder, 'go'), '');
  for (const each of jobs) expect((await first.client.waitForJob(each.job)).status).toBe('completed');
  const done = (await linesOf('done')).map((run) => run.split(' ')[0]);
  for (const { task } of jobs) expect(done.filter((each) => each === task)).toHaveLength(1);
  await until('no run is recorded', async () => (await recordedRuns(first.user)).length === 0);
  expect(service.reports.filter((line) => line.startsWith('refused: '))).toEqual([]);
});

test('a run that is too many for its account ends, and its task is done later, without a failure that anybody sees', async () => {
  const { client } = await newAccount();
  const { job, task } = await convert(client, 'crowded.txt');

  await until('its first run is aborted', async () => (await linesOf('aborted')).length === 1);
  expect(await client.showTask(task)).toMatchObject({ status: 'processing', endedAt: null, result: {} });
  await writeFile(join(folder, 'go'), '');

  expect((await client.waitForJob(job)).status).toBe('completed');
  expect(await linesOf('aborted')).toEqual([`${task} 1`]);
  expect(await linesOf('done')).toEqual([`${task} 2`]);
});

test('a task that was given back can be canceled and deleted, and is then not begun again', async () => {
  const { client, user } = await newAccount();
  const { jobs, waiting } = await fillShare(client, user);
  const [canceled, deleted] = waiting;
  if (!canceled || !deleted) throw new Error('Nothing waits.');

  expect((await client.call('POST', `/v1/process/tasks/${canceled.task}/cancel`)).status).toBe(200);
  expect((await client.call('DELETE', `/v1/process/tasks/${deleted.task}`)).status).toBe(200);
  await writeFile(join(folder, 'go'), '');

  for (const { job, task } of jobs.filter((each) => !waiting.includes(each)))
    expect(taskOf(await client.waitForJob(job), 'convert')).toMatchObject({ id: task, status: 'completed' });
  expect((await client.showTask(canceled.task)).status).toBe('canceled');
  expect((await client.call('GET', `/v1/process/tasks/${deleted.task}`)).status).toBe(404);
  const done = (await linesOf('done')).map((run) => run.split(' ')[0]);
  for (const { task } of waiting) expect(done).not.toContain(task);
});

test('long runs whose workers were killed do not keep their account out', { timeout: 240_000 }, async () => {
  const { client, user } = await newAccount();
  const { jobs } = await fillShare(client, user);

  await writeFile(join(folder, 'die'), '');
  // Nobody takes their places over.
  for (const { job } of jobs) await client.call('DELETE', `/v1/process/jobs/${job}`);
  const { job } = await convert(client, 'quick.txt');

  expect((await client.waitForJob(job, { seconds: 200 })).status).toBe('completed');
});
