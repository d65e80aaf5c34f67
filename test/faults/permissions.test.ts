import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, test } from 'vitest';
import type { LocalRole, LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { dataUri, download, filesOf, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { clientAs } from '../support/roles.ts';
import { functionOf, startAlteredStack } from '../support/running-stack.ts';

/** Takes one action away from the role of one function, and leaves everything else as the template has it. */
function without(entry: string, action: string): (stack: LocalStack) => void {
  return (stack) => takeFrom(functionOf(stack, entry).role, action);
}

function takeFrom(role: LocalRole | undefined, action: string): void {
  let taken = false;
  for (const statement of role?.statements ?? []) {
    taken ||= statement.actions.includes(action);
    statement.actions = statement.actions.filter((candidate) => candidate !== action);
  }
  if (!taken) throw new Error(`The role ${role?.logicalId} never had ${action}.`);
}

async function pictureJob() {
  return {
    import: { operation: 'import/base64', file: dataUri(await twoHalves(16, 16)), filename: 'a.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  };
}

test('create-job without sqs:SendMessage responds with 500 and a request id, and nothing else is affected', async () => {
  await using stack = await startAlteredStack(without('functions/api/jobs/create-job.ts', 'sqs:SendMessage'));
  const { client, reports } = stack;

  const { status, body } = await client.call('POST', '/v1/process/jobs', { tasks: await pictureJob() });

  expect(status).toBe(500);
  expect(body).toMatchObject({ errorCode: 'internal_error', requestId: expect.stringMatching(/.+/) });
  expect(body.msg).not.toMatch(/sqs|arn:|role/i);
  const denials = reports.filter((line) => line.startsWith('refused: '));
  expect(denials).toEqual([
    expect.stringMatching(
      /^refused: arn:aws:iam::\d+:role\/HttpCreateJobRole\w+ may not sqs:SendMessage on arn:aws:sqs:/,
    ),
  ]);
  expect(reports.join('\n')).toContain(body.requestId);

  const imported = await client.createTask('import/base64', {
    file: dataUri(await twoHalves(16, 16)),
    filename: 'a.png',
  });
  const converted = await client.createTask('convert', { input: imported.id, output_format: 'webp' });
  expect(await client.showTask(imported.id)).toMatchObject({ status: 'completed' });
  expect(await client.waitForTask(converted.id)).toMatchObject({ status: 'completed' });
  expect(reports.filter((line) => line.startsWith('refused: '))).toEqual(denials);
});

test('show-task without dynamodb:GetItem responds with 500, while show-job goes on', async () => {
  await using stack = await startAlteredStack(without('functions/api/tasks/show-task.ts', 'dynamodb:GetItem'));
  const job = await stack.client.runJob(await pictureJob());

  const { status } = await stack.client.call('GET', `/v1/process/tasks/${taskOf(job, 'convert').id}`);

  expect(status).toBe(500);
  expect((await stack.client.showJob(job.id)).status).toBe('completed');
  expect(stack.reports.filter((line) => line.startsWith('refused: '))).toEqual([
    expect.stringMatching(/role\/HttpShowTaskRole\w+ may not dynamodb:GetItem on /),
  ]);
});

test('a link whose function lacks sts:AssumeRole responds with 500', async () => {
  await using stack = await startAlteredStack(without('functions/api/files/download-file.ts', 'sts:AssumeRole'));
  const job = await stack.client.runJob(await pictureJob());

  const response = await fetch(filesOf(job, 'convert')[0]?.url ?? '', { redirect: 'manual' });

  expect(response.status).toBe(500);
  expect(stack.reports.filter((line) => line.startsWith('refused: '))).toEqual([
    expect.stringMatching(/role\/HttpFileRole\w+ may not sts:AssumeRole on .*:role\/SignersFiles\w+$/),
  ]);
});

test('a link whose signing role lacks s3:GetObject leads to a refusal by S3', async () => {
  await using stack = await startAlteredStack(({ assumableRoles }) =>
    takeFrom(
      assumableRoles.find(({ logicalId }) => logicalId.startsWith('SignersFiles')),
      's3:GetObject',
    ),
  );
  const job = await stack.client.runJob(await pictureJob());

  const response = await fetch(filesOf(job, 'convert')[0]?.url ?? '');

  expect(response.status).toBe(403);
  expect(await response.text()).toContain('<Code>AccessDenied</Code>');
  expect(stack.reports.filter((line) => line.startsWith('refused: '))).toEqual([
    expect.stringMatching(/role\/SignersFiles\w+ may not s3:GetObject on /),
  ]);
});

test('with the roles of the template as they are, no call of a whole job is refused', async () => {
  await using stack = await startAlteredStack(() => {});
  const job = await stack.client.runJob({
    ...(await pictureJob()),
    export: { operation: 'export/url', input: ['import', 'convert'], archive_multiple_files: true },
  });
  expect((await download(filesOf(job, 'export')[0]?.url ?? '')).subarray(0, 2).toString()).toBe('PK');
  expect(stack.reports.filter((line) => line.startsWith('refused: '))).toEqual([]);
});

type Service = Awaited<ReturnType<typeof startAlteredStack>>;

/** Makes a call with the role of a function, and returns the name of the error that it ends with, if any. */
type Attempt = (service: Service, role: string) => Promise<string | undefined>;

const nameOfError = (sent: Promise<unknown>) =>
  sent.then(
    () => undefined,
    (error: Error) => error.name,
  );

function onTable(call: (client: DynamoDBClient, TableName: string) => Promise<unknown>): Attempt {
  return async (service, role) => {
    const client = new DynamoDBClient(await clientAs(service, role, 'dynamodb'));
    return nameOfError(call(client, service.stack.tables[0]?.name ?? ''));
  };
}

function onBucket(call: (client: S3Client, Bucket: string) => Promise<unknown>): Attempt {
  return async (service, role) => {
    const client = new S3Client(await clientAs(service, role, 's3'));
    return nameOfError(call(client, service.stack.buckets[0]?.name ?? ''));
  };
}

function toQueue(name: string): Attempt {
  return async (service, role) => {
    const client = new SQSClient(await clientAs(service, role, 'sqs'));
    const queue = service.stack.queues.find(({ logicalId }) => logicalId.startsWith(name));
    return nameOfError(client.send(new SendMessageCommand({ QueueUrl: queue?.url, MessageBody: 'x' })));
  };
}

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'x' } });
const get = (pk: string) => onTable((db, TableName) => db.send(new GetItemCommand({ TableName, Key: key(pk) })));
const put = (pk: string) => onTable((db, TableName) => db.send(new PutItemCommand({ TableName, Item: key(pk) })));
const update = (pk: string) =>
  onTable((db, TableName) => {
    const change = { UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': { S: 'a' } } };
    return db.send(new UpdateItemCommand({ TableName, Key: key(pk), ...change }));
  });
const batchGet = (...pks: string[]) =>
  onTable((db, TableName) =>
    db.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: pks.map(key) } } })),
  );
const query = (attribute: string, value: string, IndexName?: string) =>
  onTable((db, TableName) =>
    db.send(
      new QueryCommand({
        TableName,
        IndexName,
        KeyConditionExpression: '#key = :value',
        ExpressionAttributeNames: { '#key': attribute },
        ExpressionAttributeValues: { ':value': { S: value } },
      }),
    ),
  );
const scan = onTable((db, TableName) => db.send(new ScanCommand({ TableName })));
const read = (Key: string) => onBucket((s3, Bucket) => s3.send(new GetObjectCommand({ Bucket, Key })));
const write = (Key: string) => onBucket((s3, Bucket) => s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' })));
const list = (Prefix?: string) => onBucket((s3, Bucket) => s3.send(new ListObjectsV2Command({ Bucket, Prefix })));

/** Calls that a condition alone forbids: the role may make them on other kinds of items. */
const forbiddenByCondition: [role: string, what: string, attempt: Attempt][] = [
  ['EngineimageWorker', 'store an API key', put('key#x')],
  ['EngineimageWorker', 'change an API key', update('key#x')],
  ['EngineimageWorker', 'read an API key', get('key#x')],
  ['EngineimageWorker', 'read a token', get('token#x')],
  ['EngineimageWorker', 'read a token among tasks', batchGet('group#x', 'token#x')],
  ['EngineimageWorker', 'store a webhook', put('hooks#x')],
  ['EngineimageWorker', 'list stored credentials', list('secrets/')],
  ['EngineimageWorker', 'list posted files', list('uploads/')],
  ['EngineimageWorker', 'list everything', list()],
  ['EnginetransferWorker', 'store an API key', put('key#x')],
  ['EnginetransferWorker', 'read a connection', get('conn#x')],
  ['HttpCreateJob', 'store an API key', put('key#x')],
  ['HttpCreateJob', 'read a token', get('token#x')],
  ['HttpAccountToken', 'store an API key', put('key#x')],
  ['HttpAccountToken', 'read a token', get('token#x')],
  ['HttpWebhookCreate', 'store a delivery', put('hook#x')],
  ['HttpWebhookList', 'list deliveries', query('pk', 'hook#x')],
  ['HttpListJobs', 'list something other than jobs and tasks', query('owner', 'other#x', 'byOwner')],
  ['HttpListTasks', 'read a task as if it were a key', get('group#x')],
  ['HttpFile', 'read a webhook', get('hooks#x')],
  ['HttpShowTask', 'count something other than requests', update('group#x')],
  ['SocketsSocket', 'store a token', put('token#x')],
  ['SocketsSocket', 'store a session', put('session#x')],
  ['LifecycleSweep', 'read a connection', get('conn#x')],
  ['EventsRelay', 'store a connection', put('conn#x')],
  ['EventsRelay', 'list tasks', query('pk', 'group#x')],
  ['EventsDeliver', 'change a delivery in place', update('hook#x')],
  ['LifecycleUploaded', 'list stored credentials', list('secrets/')],
  ['LifecycleSweep', 'store a webhook', put('hooks#x')],
];

/** Calls that no statement of the role covers. */
const forbidden: [role: string, what: string, attempt: Attempt][] = [
  ['EngineimageWorker', 'read the whole table', scan],
  ['HttpListJobs', 'read the whole table', scan],
  ['LifecycleSweep', 'read the whole table', scan],
  ['EngineimageWorker', 'list webhooks', query('pk', 'hooks#x')],
  ['EngineimageWorker', 'read credentials of a store', read('secrets/x')],
  ['EngineimageWorker', 'read the password of a file', read('passwords/x')],
  ['EnginedocumentWorker', 'read credentials of a store', read('secrets/x')],
  ['EnginetransferWorker', 'read the password of a file', read('passwords/x')],
  ['EngineimageWorker', 'write where clients post', write('uploads/x')],
  ['LifecycleUploaded', 'read the password of a file', read('passwords/x')],
  ['LifecycleSweep', 'read credentials of a store', read('secrets/x')],
  ['HttpFile', 'read a posted file', read('uploads/x')],
  ['HttpImportUrl', 'store the password of a file', write('passwords/x')],
  ['HttpConvert', 'store credentials of a store', write('secrets/x')],
  ['EngineimageWorker', 'queue a delivery', toQueue('EventsWebhooksQueue')],
  ['HttpConvert', 'queue a transfer', toQueue('EnginetransferWorkQueue')],
  ['HttpTrim', 'queue a task for the engine of images', toQueue('EngineimageWorkQueue')],
  ['HttpCancelTask', 'queue a task', toQueue('EngineimageWorkQueue')],
  ['HttpCreateJob', 'publish progress', toQueue('EventsProgressQueue')],
];

describe('with the credentials of a function', () => {
  test('everything that its role does not need is refused', async () => {
    await using service = await startAlteredStack(() => {});
    for (const [role, what, attempt] of [...forbiddenByCondition, ...forbidden])
      expect(await attempt(service, role), `${role}: ${what}`).toMatch(/^AccessDenied(Exception)?$/);
  });

  test('what a condition forbids would be allowed without it', async () => {
    await using service = await startAlteredStack(({ functions }) => {
      for (const { role } of functions) for (const statement of role.statements) statement.conditions = {};
    });
    for (const [role, what, attempt] of forbiddenByCondition)
      expect(await attempt(service, role), `${role}: ${what}`).toBeUndefined();
  });
});
