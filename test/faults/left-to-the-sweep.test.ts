import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { CreateMultipartUploadCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from 'vitest';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import type { LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { objectPrefixes, partsKey, uploadKey } from '../../shared/files/keys.ts';
import { firstIdAt, newId } from '../../shared/ids.ts';
import { queueTimeoutMs } from '../../shared/tasks/transitions.ts';
import { formOf, postForm, type TaskDefinition, type TaskView, taskOf } from '../support/client.ts';
import { countMessages, sendAsOperator } from '../support/operator.ts';
import { change, itemOf, keyOfJob, keyOfTask, makeDue, past } from '../support/records.ts';
import {
  clientAs,
  denialsOf,
  exports,
  fileOf,
  pauseConsumers,
  processings,
  roleOf,
  takeAway,
  workers,
} from '../support/roles.ts';
import { startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

type Service = Awaited<ReturnType<typeof startAlteredStack>>;

/** A job of which every task waits for an upload, with a password and with credentials of a store. */
const secretive: Record<string, TaskDefinition> = {
  upload: { operation: 'import/upload' },
  convert: { operation: 'convert', input: 'upload', output_format: 'pdf', options: { password: 'secret' } },
  ...Object.fromEntries(exports('convert').map((definition) => [definition.operation.replace('/', '-'), definition])),
};

/** Lets whoever creates a job queue its tasks, and not publish it, as if it died before. */
function letCreatorsDie(stack: LocalStack): void {
  takeAway(roleOf(stack, 'HttpCreateJob'), 'dynamodb:GetItem', 'following#*');
}

async function storedUnder(service: Service, prefix: string): Promise<string[]> {
  const s3 = new S3Client(await clientAs(service, 'LifecycleSweep', 's3'));
  const { Contents = [] } = await s3.send(
    new ListObjectsV2Command({ Bucket: service.stack.buckets[0]?.name, Prefix: prefix }),
  );
  return Contents.flatMap(({ Key }) => Key ?? []);
}

/** Waits until no task has a secret left: they go with the end of the task, which is recorded before. */
async function untilNoSecrets(service: Service): Promise<void> {
  for (const prefix of [objectPrefixes.secrets, objectPrefixes.passwords])
    await until(`nothing is left under ${prefix}`, async () => (await storedUnder(service, prefix)).length === 0);
}

async function post(task: TaskView, name = 'a.png'): Promise<void> {
  await postForm(formOf(task), name, Buffer.from([1, 2, 3]));
}

test('a canceled task fails what depends on it, and the job of a creator that died is published by whoever ends it', async () => {
  await using service = await startAlteredStack((stack) => {
    pauseConsumers(stack, workers);
    letCreatorsDie(stack);
  });
  const job = await service.client.createJob(secretive);
  expect(await storedUnder(service, objectPrefixes.secrets)).toHaveLength(exports('').length - 1);
  expect(await storedUnder(service, objectPrefixes.passwords)).toHaveLength(1);

  expect((await service.client.call('POST', `/v1/process/tasks/${taskOf(job, 'upload').id}/cancel`)).status).toBe(200);
  const canceled = await service.client.showJob(job.id);
  expect(canceled).toMatchObject({ status: 'failed', result: { errorCode: 'task_canceled' } });
  expect(canceled.tasks.map(({ status }) => status)).toEqual([
    'canceled',
    ...canceled.tasks.slice(1).map(() => 'failed'),
  ]);
  await untilNoSecrets(service);

  const other = await service.client.createJob(secretive);
  expect((await service.client.call('DELETE', `/v1/process/tasks/${taskOf(other, 'upload').id}`)).status).toBe(200);
  expect(await service.client.showJob(other.id)).toMatchObject({
    status: 'failed',
    result: { errorCode: 'task_deleted' },
  });
  await untilNoSecrets(service);
  expect(denialsOf(service, /HttpCreateJob/)).toEqual([]);
});

test('a job is done at once although its creator cannot publish it', async () => {
  await using service = await startAlteredStack(letCreatorsDie);
  const job = await service.client.createJob({
    import: { operation: 'import/base64', ...fileOf('png') },
    export: { operation: 'export/url', input: 'import' },
  });
  expect((await service.client.waitForJob(job.id)).status).toBe('completed');
  expect(denialsOf(service, /HttpCreateJob/)).toEqual([]);
  expect(denialsOf(service).length).toBeGreaterThan(0);
});

test('a deletion leaves nothing of a task or a job, not even a posted file that was not imported yet', async () => {
  await using service = await startAlteredStack((stack) => pauseConsumers(stack, /^Engine|^LifecycleUploaded/));
  const job = await service.client.createJob({
    ...secretive,
    import: { operation: 'import/base64', ...fileOf('png') },
  });
  const single = await service.client.createTask('import/upload');
  await post(taskOf(job, 'upload'));
  await post(single);
  expect(await storedUnder(service, objectPrefixes.uploads)).toHaveLength(2);

  expect((await service.client.call('DELETE', `/v1/process/tasks/${single.id}`)).status).toBe(200);
  expect(await storedUnder(service, objectPrefixes.uploads)).toHaveLength(1);
  expect((await service.client.call('DELETE', `/v1/process/jobs/${job.id}`)).status).toBe(200);
  for (const prefix of Object.values(objectPrefixes)) expect(await storedUnder(service, prefix)).toEqual([]);
  expect(denialsOf(service)).toEqual([]);
});

test('an upload queues what waits for it for any engine, completes its job, and fails what no engine can do', async () => {
  await using service = await startAlteredStack((stack) => pauseConsumers(stack, workers));
  const { client } = service;
  for (const { engine, from, to } of processings().filter(({ operation }) => operation === 'convert')) {
    const job = await client.createJob({
      upload: { operation: 'import/upload' },
      convert: { operation: 'convert', input: 'upload', output_format: to },
      export: { operation: 'export/url', input: 'upload' },
    });
    await post(taskOf(job, 'upload'), `a.${from}`);
    const settled = await client.waitForTask(taskOf(job, 'upload').id);
    expect(settled.status, engine).toBe('completed');
  }
  const alone = await client.createJob({ upload: { operation: 'import/upload' } });
  await post(taskOf(alone, 'upload'));
  expect((await client.waitForJob(alone.id)).status).toBe('completed');

  const impossible = await client.createJob(secretive);
  await post(taskOf(impossible, 'upload'), 'a.unknown');
  expect((await client.waitForJob(impossible.id)).status).toBe('failed');
  await untilNoSecrets(service);
  expect(denialsOf(service)).toEqual([]);
});

test('a task that no worker of any engine could finish fails, with what depends on it', async () => {
  await using service = await startAlteredStack(
    (stack) => {
      letCreatorsDie(stack);
      for (const fn of stack.functions.filter(({ logicalId }) => workers.test(logicalId)))
        if (fn.role.statements.some(({ actions }) => actions.includes('dynamodb:BatchGetItem')))
          takeAway(fn.role, 'dynamodb:BatchGetItem', 'group#*');
      for (const source of stack.queueSources.filter((each) => workers.test(each.function.logicalId))) {
        takeAway(source.function.role, 'sqs:ChangeMessageVisibility', source.queue.name);
        // The message of a worker that failed is back at once, and is a dead letter then.
        source.queue.attributes.VisibilityTimeout = '1';
        const redrive = JSON.parse(source.queue.attributes.RedrivePolicy ?? '{}');
        source.queue.attributes.RedrivePolicy = JSON.stringify({ ...redrive, maxReceiveCount: 1 });
      }
    },
    { LATHE_SWEEP_SECONDS: '1' },
  );
  const { client } = service;
  const jobs = [];
  for (const { engine, from, to } of processings().filter(({ operation }) => operation === 'convert')) {
    const input = await client.createTask('import/base64', fileOf(from));
    const options = engine === 'document' ? { options: { password: 'secret' } } : {};
    jobs.push(
      await service.client.createJob({
        convert: { operation: 'convert', input: input.id, output_format: to, ...options },
        ...Object.fromEntries(exports('convert').map((each) => [each.operation.replace('/', '-'), each])),
      }),
    );
  }
  const input = await client.createTask('import/base64', fileOf('png'));
  jobs.push(await service.client.createJob({ export: { operation: 'export/url', input: input.id } }));
  for (const { id } of jobs) expect((await client.waitForJob(id)).status).toBe('failed');
  await untilNoSecrets(service);
  expect(denialsOf(service, /HttpCreateJob|role\/Engine/)).toEqual([]);
});

test('a file whose notification was lost is imported when its form expires', async () => {
  await using service = await startAlteredStack(
    (stack) => {
      for (const bucket of stack.buckets) bucket.notifications = [];
    },
    { LATHE_SWEEP_SECONDS: '1' },
  );
  const job = await service.client.createJob({ upload: { operation: 'import/upload' } });
  const upload = taskOf(job, 'upload');
  await post(upload);
  await change(service, keyOfTask(upload.id), { formUntil: past });
  await makeDue(service, keyOfJob(job.id), job.id);
  expect(await service.client.waitForJob(job.id)).toMatchObject({ status: 'completed' });
  // The importer deletes it last of all.
  await until(
    'the posted file is deleted',
    async () => (await storedUnder(service, objectPrefixes.uploads)).length === 0,
  );
  expect(denialsOf(service)).toEqual([]);
});

test('a posted file that could not be imported is retried within a minute', async () => {
  await using service = await startAlteredStack((stack) =>
    takeAway(roleOf(stack, 'LifecycleUploaded'), 's3:GetObject', 'uploads/*'),
  );
  const role = roleOf(service.stack, 'LifecycleUploaded');
  const task = await service.client.createTask('import/upload');
  await post(task);
  await until('it has failed', () => denialsOf(service).length > 0);
  const [bucket] = service.stack.buckets;
  role.statements.push({
    effect: 'Allow',
    actions: ['s3:GetObject'],
    resources: [`${bucket?.arn}/${objectPrefixes.uploads}*`],
    conditions: {},
  });
  expect((await service.client.waitForTask(task.id)).status).toBe('completed');
});

test('a file that is posted to a task that has ended leaves nothing behind', async () => {
  await using service = await startAlteredStack((stack) => pauseConsumers(stack, workers));
  const task = await service.client.createTask('import/upload');
  expect((await service.client.call('POST', `/v1/process/tasks/${task.id}/cancel`)).status).toBe(200);
  await post(task);
  for (const prefix of [objectPrefixes.uploads, objectPrefixes.files])
    await until(`nothing is left under ${prefix}`, async () => (await storedUnder(service, prefix)).length === 0);
  expect(denialsOf(service)).toEqual([]);
});

test('a notification of parts that are gone changes nothing', async () => {
  await using service = await startAlteredStack((stack) => pauseConsumers(stack, workers));
  const uploadsQueue = /^FilesUploadsQueue/;
  const upload = await service.client.createTask('import/upload');
  const key = `files/${upload.id}/gone`;
  await sendAsOperator(service, uploadsQueue, { Records: [{ s3: { object: { key } } }] });

  await until('the notification was handled', async () => (await countMessages(service, uploadsQueue)) === 0);
  expect(await service.client.showTask(upload.id)).toMatchObject({ status: upload.status });
});

test('an import of a web page fails at once on an instance without a browser', async () => {
  const components = engineCatalogues.find(({ engine }) => engine === 'webpage')?.components ?? {};
  const missing = {
    engines: { webpage: Object.fromEntries(Object.keys(components).map((name) => [name, 'not installed'])) },
  };
  await using service = await startAlteredStack(
    (stack) => pauseConsumers(stack, workers),
    { LATHE_ALLOW_HOSTS: '127.0.0.1' },
    { missing },
  );
  await service.client.create('/v1/account/webhooks', { url: 'http://127.0.0.1:9/' });
  const task = await service.client.createTask('import/webpage', { url: 'http://203.0.113.1/' });
  expect(await service.client.showTask(task.id)).toMatchObject({ status: 'failed' });
  expect(denialsOf(service)).toEqual([]);
});

test('an event that the relay receives twice makes one delivery', async () => {
  await using service = await startAlteredStack(
    (stack) => pauseConsumers(stack, /^EventsDeliver/),
    { LATHE_ALLOW_HOSTS: '127.0.0.1' },
    { deliverTwice: (source) => source.function.logicalId.startsWith('EventsRelay') },
  );
  const webhook = await service.client.create<{ id: string }>('/v1/account/webhooks', { url: 'http://127.0.0.1:9/' });
  await service.client.createJob({ import: { operation: 'import/base64', ...fileOf('png') } });
  const path = `/v1/account/webhooks/${webhook.id}/deliveries`;
  const events = await until('the end of the job is to be delivered', async () => {
    const { body } = await service.client.call<{ docs: { event: string }[] }>('GET', path);
    const found = body.docs.map(({ event }) => event);
    return found.includes('job.completed') ? found : undefined;
  });
  expect(new Set(events).size).toBe(events.length);
  expect(denialsOf(service)).toEqual([]);
});

describe('the sweep', () => {
  const queueOf = (engine: string) => new RegExp(`^Engine${engine}WorkQueue[0-9A-F]{8}$`);

  test('queues lost tasks again, whatever their engine', async () => {
    await using service = await startAlteredStack((stack) => pauseConsumers(stack, workers), {
      LATHE_SWEEP_SECONDS: '1',
    });
    const { client } = service;
    const long = new Date(Date.now() - queueTimeoutMs).toISOString();
    const conversions = processings().filter(({ operation }) => operation === 'convert');
    for (const { from, to } of conversions) {
      const input = await client.createTask('import/base64', fileOf(from));
      const alone = await client.createTask('convert', { input: input.id, output_format: to });
      const job = await client.createJob({ export: { operation: 'export/url', input: input.id } });
      const { id } = taskOf(job, 'export');
      await change(service, keyOfTask(input.id), { createdAt: long, endedAt: long });
      await change(service, keyOfTask(id), { createdAt: long });
      await change(service, keyOfJob(job.id), { createdAt: long, dueAt: past });
      await change(service, keyOfTask(alone.id), { createdAt: long, dueAt: past });
    }
    for (const [queue, tasks = []] of Object.entries(Object.groupBy(conversions, (each) => each.queue)))
      await until(
        `the tasks of ${queue} are queued again`,
        async () => (await countMessages(service, queueOf(queue))) === 2 * tasks.length,
      );
    await until(
      'the exports are queued again',
      async () => (await countMessages(service, queueOf('transfer'))) === 2 * conversions.length,
    );
    expect(denialsOf(service)).toEqual([]);
  });

  test('does what follows from a cancellation or deletion that was broken off', async () => {
    await using service = await startAlteredStack(
      (stack) => {
        pauseConsumers(stack, /^Engine|^LifecycleUploaded/);
        for (const name of ['HttpCancelTask', 'HttpDeleteTask'])
          takeAway(roleOf(stack, name), 'dynamodb:GetItem', 'following#*');
        takeAway(roleOf(stack, 'HttpDeleteJob'), 'dynamodb:Query', 'group#*');
      },
      { LATHE_SWEEP_SECONDS: '1' },
    );
    const { client } = service;
    const canceled = await client.createJob(secretive);
    const { id } = taskOf(canceled, 'upload');
    expect((await client.call('POST', `/v1/process/tasks/${id}/cancel`)).status).toBe(200);
    expect((await client.showJob(canceled.id)).status).toBe('processing');
    await makeDue(service, keyOfJob(canceled.id), canceled.id);
    expect((await client.waitForJob(canceled.id)).status).toBe('failed');

    const imported = await client.createTask('import/base64', fileOf('png'));
    expect((await client.call('DELETE', `/v1/process/tasks/${imported.id}`)).status).toBe(200);
    expect(await storedUnder(service, `${objectPrefixes.files}${imported.id}/`)).toHaveLength(1);
    await makeDue(service, keyOfTask(imported.id), imported.id);

    const deleted = await client.createJob({ ...secretive, import: { operation: 'import/base64', ...fileOf('png') } });
    await post(taskOf(deleted, 'upload'));
    expect((await client.call('DELETE', `/v1/process/jobs/${deleted.id}`)).status).toBe(200);
    expect(await itemOf(service, keyOfJob(deleted.id))).toMatchObject({ status: 'deleted' });
    await makeDue(service, keyOfJob(deleted.id), deleted.id);

    await until('the records are gone', async () => {
      const task = await itemOf(service, keyOfTask(imported.id));
      const job = await itemOf(service, keyOfJob(deleted.id));
      return task === undefined && job === undefined;
    });
    for (const prefix of Object.values(objectPrefixes)) expect(await storedUnder(service, prefix)).toEqual([]);
    expect(denialsOf(service, /HttpCancelTask|HttpDeleteTask|HttpDeleteJob/)).toEqual([]);
  });

  test('queues deliveries again whose messages were lost', async () => {
    await using service = await startAlteredStack((stack) => pauseConsumers(stack, /^EventsDeliver/), {
      LATHE_SWEEP_SECONDS: '1',
      LATHE_ALLOW_HOSTS: '127.0.0.1',
    });
    const { client } = service;
    const webhook = await client.create<{ id: string }>('/v1/account/webhooks', {
      url: 'http://127.0.0.1:9/',
      events: ['job.completed'],
    });
    await client.createJob({ import: { operation: 'import/base64', ...fileOf('png') } });
    const { id } = await until('there is a delivery', async () => {
      const path = `/v1/account/webhooks/${webhook.id}/deliveries`;
      const { body } = await client.call<{ docs: { id: string }[] }>('GET', path);
      return body.docs[0];
    });
    const sqs = new SQSClient(await clientAs(service, 'EventsDeliver', 'sqs'));
    const queue = service.stack.queues.find(({ logicalId }) => /^EventsWebhooksQueue[0-9A-F]{8}$/.test(logicalId));
    const messages = async () => {
      const request = { QueueUrl: queue?.url, AttributeNames: ['ApproximateNumberOfMessages' as const] };
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand(request));
      return Number(Attributes?.ApproximateNumberOfMessages);
    };
    await until('its message is queued', async () => (await messages()) === 1);
    const item = await itemOf(service, { pk: `hook#${webhook.id}`, sk: `delivery#${id}` });
    const dynamodb = new DynamoDBClient(await clientAs(service, 'LifecycleSweep', 'dynamodb'));
    const Item = marshall({ ...item, dueAt: past });
    await dynamodb.send(new PutItemCommand({ TableName: service.stack.tables[0]?.name, Item }));
    await until('another message is queued', async () => (await messages()) === 2);
    const { dueAt } = (await itemOf(service, { pk: `hook#${webhook.id}`, sk: `delivery#${id}` })) ?? {};
    expect(Number(dueAt)).toBeGreaterThan(Date.now());
    expect(denialsOf(service)).toEqual([]);
  });

  test('pings no more what is no connection any more', async () => {
    await using service = await startAlteredStack(() => {}, { LATHE_SWEEP_SECONDS: '1' });
    const key = { pk: `${partitions.pinged}all`, sk: 'gone' };
    const table = { TableName: service.stack.tables[0]?.name };
    const sockets = new DynamoDBClient(await clientAs(service, 'SocketsSocket', 'dynamodb'));
    await sockets.send(new PutItemCommand({ ...table, Item: marshall({ ...key, dialect: 'plain' }) }));
    const sweep = new DynamoDBClient(await clientAs(service, 'LifecycleSweep', 'dynamodb'));
    const query = new QueryCommand({
      ...table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: marshall({ ':pk': key.pk }),
    });
    await until('it is forgotten', async () => (await sweep.send(query)).Count === 0);
    expect(denialsOf(service)).toEqual([]);
  });

  test('deletes the dead letters of tasks and posted files that have ended, and keeps the others', async () => {
    await using service = await startAlteredStack((stack) => pauseConsumers(stack, workers), {
      LATHE_SWEEP_SECONDS: '1',
    });
    const deadLetters = /^FilesUploadsDeadLetters/;
    const open = await service.client.createTask('import/upload');
    const canceled = await service.client.createTask('import/upload');
    expect((await service.client.call('POST', `/v1/process/tasks/${canceled.id}/cancel`)).status).toBe(200);
    for (const { id } of [open, canceled]) {
      const message = { Records: [{ s3: { object: { key: uploadKey(id) } } }] };
      await sendAsOperator(service, deadLetters, message);
    }
    const ofEngines = [...new Set(processings().map(({ queue }) => queue))].map(
      (queue) => new RegExp(`^Engine${queue}WorkDeadLetters`),
    );
    for (const queue of ofEngines) await sendAsOperator(service, queue, { taskId: newId(), engine: 'image' });
    await until('one is left', async () => (await countMessages(service, deadLetters)) === 1);
    for (const queue of ofEngines) await until('none is left', async () => (await countMessages(service, queue)) === 0);
    expect((await service.client.showTask(open.id)).status).toBe('processing');
    expect(denialsOf(service)).toEqual([]);
  });

  test('aborts the incomplete uploads that nobody continues', async () => {
    await using service = await startAlteredStack((stack) => pauseConsumers(stack, workers), {
      LATHE_SWEEP_SECONDS: '1',
    });
    const { client } = service;
    const s3 = new S3Client(await clientAs(service, 'LifecycleUploaded', 's3'));
    using database = new DatabaseSync(join(service.dataDirectory, 's3', 'objects.db'));
    const hourMs = 3_600_000;
    const makeOlder = (id: string, ageMs: number) =>
      database.prepare('UPDATE uploads SET started = ? WHERE id = ?').run(Date.now() - ageMs, id);
    /** Starts an upload as a function does that dies before it records it. */
    const begin = async (taskId: string, ageMs: number) => {
      const Key = partsKey(taskId, newId());
      const Bucket = service.stack.buckets[0]?.name;
      const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      makeOlder(UploadId, ageMs);
      return UploadId;
    };
    const waiting = await client.createTask('import/upload');
    const response = await fetch(`${waiting.result.form?.endpoint}/s3/multipart`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ filename: 'a.bin' }),
    });
    const { uploadId: recorded }: { uploadId: string } = JSON.parse(await response.text());
    makeOlder(recorded, hourMs);
    const withoutUpload = await client.createTask('import/upload');
    const canceled = await client.createTask('import/upload');
    expect((await client.call('POST', `/v1/process/tasks/${canceled.id}/cancel`)).status).toBe(200);
    const kept = [recorded, await begin(withoutUpload.id, hourMs), await begin(canceled.id, 0)];
    const lost = [
      await begin(waiting.id, hourMs),
      await begin(canceled.id, hourMs),
      await begin(newId(), hourMs),
      await begin(firstIdAt(Date.now() - 5 * hourMs), 0),
    ];
    const incomplete = () =>
      database
        .prepare('SELECT id FROM uploads')
        .all()
        .map(({ id }) => String(id));
    await until('the lost uploads are aborted', () => !incomplete().some((id) => lost.includes(id)));
    expect(incomplete().sort()).toEqual(kept.sort());
    expect(denialsOf(service)).toEqual([]);
  });

  test('deletes what is old of every kind of object', async () => {
    await using service = await startAlteredStack(
      (stack) => {
        pauseConsumers(stack, /^Engine|^LifecycleUploaded/);
        const [bucket] = stack.buckets;
        // Nobody may put all kinds, so the test lets one role.
        roleOf(stack, 'LifecycleSweep').statements.push({
          effect: 'Allow',
          actions: ['s3:PutObject'],
          resources: [`${bucket?.arn}/*`],
          conditions: {},
        });
      },
      { LATHE_SWEEP_SECONDS: '1' },
    );
    const s3 = new S3Client(await clientAs(service, 'LifecycleSweep', 's3'));
    const [old, recent] = [firstIdAt(Date.now() - 5 * 3_600_000), newId()];
    for (const prefix of Object.values(objectPrefixes)) {
      for (const id of [old, recent])
        await s3.send(
          new PutObjectCommand({ Bucket: service.stack.buckets[0]?.name, Key: `${prefix}${id}`, Body: 'x' }),
        );
    }
    for (const prefix of Object.values(objectPrefixes))
      await until(`only what is recent is left under ${prefix}`, async () => {
        const keys = await storedUnder(service, prefix);
        return keys.length === 1 && keys[0] === `${prefix}${recent}`;
      });
    expect(denialsOf(service)).toEqual([]);
  });
});
