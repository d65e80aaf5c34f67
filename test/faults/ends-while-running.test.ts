import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { partitions } from '../../shared/aws/table-schema.ts';
import { firstIdAt } from '../../shared/ids.ts';
import { type Client, dataUri, type JobView, type TaskDefinition, taskOf } from '../support/client.ts';
import { usageOf } from '../support/metered-jobs.ts';
import { sendAsOperator } from '../support/operator.ts';
import { change, itemOf, keyOfJob, keyOfTask, makeDue } from '../support/records.ts';
import { clientAs, denialsOf, pauseConsumers, roleOf, takeAway } from '../support/roles.ts';
import { startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

type Service = Awaited<ReturnType<typeof startAlteredStack>>;

const allowanceMinutes = 100;

/** A web page that keeps its engine busy until it is stopped. */
const endless: Record<string, TaskDefinition> = {
  import: {
    operation: 'import/base64',
    file: dataUri(Buffer.from('<!doctype html><script>for (;;);</script>'), 'text/html'),
    filename: 'endless.html',
  },
  convert: { operation: 'convert', input: 'import', output_format: 'pdf' },
};

async function startEndless(client: Client): Promise<{ job: JobView; id: string }> {
  const job = await client.createJob(endless);
  const { id } = taskOf(job, 'convert');
  await until('it runs', async () => (await client.showTask(id)).status === 'processing');
  return { job, id };
}

async function expectCharged(client: Client, tasks: number): Promise<void> {
  const { month, conversionSeconds, tasks: counted } = await usageOf(client);
  expect(counted).toBe(tasks);
  expect(conversionSeconds).toBeGreaterThan(0);
  expect(month.remainingMinutes).toBeCloseTo(allowanceMinutes - conversionSeconds / 60, 3);
}

test('a task that a client stops is charged for the time it ran, and what was set aside for it is returned', async () => {
  await using service = await startAlteredStack(() => {}, { LATHE_MINUTES_PER_MONTH: String(allowanceMinutes) });
  const { client } = service;
  const canceled = await startEndless(client);
  expect((await client.call('POST', `/v1/process/tasks/${canceled.id}/cancel`)).status).toBe(200);
  await expectCharged(client, 1);

  const deleted = await startEndless(client);
  expect((await client.call('DELETE', `/v1/process/tasks/${deleted.id}`)).status).toBe(200);
  await expectCharged(client, 2);

  const ofJob = await startEndless(client);
  const waiting = await client.createJob({ archive: { operation: 'export/url', input: ofJob.id } });
  expect((await client.call('DELETE', `/v1/process/jobs/${ofJob.job.id}`)).status).toBe(200);
  await expectCharged(client, 3);
  // What waits for it belongs to another job, which fails.
  expect(await client.waitForJob(waiting.id)).toMatchObject({ status: 'failed' });
  expect(denialsOf(service)).toEqual([]);
});

test('a task of a job whose deletion was broken off is charged by the sweep', async () => {
  await using service = await startAlteredStack(breakOffDeletions, {
    LATHE_MINUTES_PER_MONTH: String(allowanceMinutes),
    LATHE_SWEEP_SECONDS: '1',
  });
  const { client } = service;
  const { job, id } = await startEndless(client);
  expect((await client.call('DELETE', `/v1/process/jobs/${job.id}`)).status).toBe(200);
  expect((await client.showTask(id)).status).toBe('processing');
  await makeDue(service, keyOfJob(job.id), job.id);
  await until(
    'the sweep has deleted it',
    async () => (await client.call('GET', `/v1/process/tasks/${id}`)).status === 404,
  );
  await expectCharged(client, 1);
  expect(denialsOf(service, /HttpDeleteJob/)).toEqual([]);
});

test('workers, transfers and the sweep announce the deletion of a task that lists may have counted', async () => {
  await using service = await startAlteredStack(
    (stack) => {
      breakOffDeletions(stack);
      pauseConsumers(stack, /^LifecycleUploaded/);
    },
    { LATHE_SWEEP_SECONDS: '1', LATHE_ALLOW_HOSTS: '127.0.0.1' },
  );
  const { client } = service;
  const upload: Record<string, TaskDefinition> = { upload: { operation: 'import/upload' } };
  const cases = [
    { worker: 'image', task: { operation: 'convert', input: 'upload', output_format: 'webp' } },
    { worker: 'transfer', task: { operation: 'export/sftp', ...sftp, input: 'upload' } },
    { worker: undefined, task: { operation: 'convert', input: 'upload', output_format: 'webp' } },
  ];
  for (const [index, { worker, task }] of cases.entries()) {
    const job = await client.createJob({ ...upload, task });
    const { id, taskId } = await copyFromThePast(service, job, index + 2);
    expect((await client.call('DELETE', `/v1/process/jobs/${id}`)).status).toBe(200);
    if (worker === undefined) await makeDue(service, keyOfJob(id), id);
    else await sendAsOperator(service, new RegExp(`^Engine${worker}WorkQueue[0-9A-F]{8}$`), { taskId, engine: worker });
    const { user } = taskOf(job, 'task');
    await until(
      `${worker ?? 'the sweep'} has deleted it`,
      async () => (await itemOf(service, keyOfTask(taskId))) === undefined,
    );
    // The function that was asked to delete the job has announced its tombstone.
    expect(await announcements(service, user)).toBeGreaterThanOrEqual(2 * (index + 1));
  }
  expect(denialsOf(service, /HttpDeleteJob/)).toEqual([]);
});

const sftp = { host: '127.0.0.1', username: 'nobody', password: 'secret', file_string: 'a' };

/** Lets the deletion of a job get no further than its tombstone. */
function breakOffDeletions(stack: Service['stack']): void {
  takeAway(roleOf(stack, 'HttpDeleteJob'), 'dynamodb:Query', 'group#*');
}

/** Writes a copy of a job's records that was created hours ago, and whose upload has completed. */
async function copyFromThePast(service: Service, job: JobView, hours: number): Promise<{ id: string; taskId: string }> {
  const prefix = job.id.slice(0, 12);
  const earlier = firstIdAt(Date.now() - hours * 3_600_000).slice(0, 12);
  const renamed = (id: string) => id.replace(prefix, earlier);
  const dynamodb = new DynamoDBClient(await clientAs(service, 'LifecycleSweep', 'dynamodb'));
  for (const key of [...job.tasks.map(({ id }) => keyOfTask(id)), keyOfJob(job.id)]) {
    const item = await itemOf(service, key);
    const text = JSON.stringify(marshall(item)).replaceAll(prefix, earlier);
    await dynamodb.send(new PutItemCommand({ TableName: service.stack.tables[0]?.name, Item: JSON.parse(text) }));
  }
  await change(service, keyOfTask(renamed(taskOf(job, 'upload').id)), { status: 'completed' });
  return { id: renamed(job.id), taskId: renamed(taskOf(job, 'task').id) };
}

/** Returns how many deletions of an account were announced to its lists. */
async function announcements(service: Service, user: string): Promise<number> {
  const dynamodb = new DynamoDBClient(await clientAs(service, 'HttpListJobs', 'dynamodb'));
  const { Items = [] } = await dynamodb.send(
    new QueryCommand({
      TableName: service.stack.tables[0]?.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: marshall({ ':pk': `${partitions.counts}${user}` }),
    }),
  );
  return Items.reduce((sum, { version }) => sum + Number(version?.N), 0);
}
