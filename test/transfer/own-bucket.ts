import { randomBytes } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Conduct } from '../../functions/engines/transfer/receive.ts';
import type { Run } from '../../functions/engines/worker.ts';
import { putObject } from '../../shared/files/objects.ts';
import { newId } from '../../shared/ids.ts';
import type { JsonObject, StoredFile, Task } from '../../shared/tasks/task.ts';
import { allow, type LocalAws, role, startLocalAws } from '../infra/local/gate/fixture.ts';

/** The bucket of the service, as a function of it sees it. */
export interface OwnBucket extends AsyncDisposable {
  client: ReturnType<LocalAws['s3']>;
  read(file: StoredFile): Promise<Buffer>;
  keys(): Promise<string[]>;
}

export const bareBucket = { cors: [], notifications: [], policy: [], expirations: [] };

/** The role of the deployment: its own files, and a bucket that its operator opened to it. */
const worker = role('Worker', [
  allow(
    ['s3:*'],
    ['arn:aws:s3:::lathe-files', 'arn:aws:s3:::lathe-files/*', 'arn:aws:s3:::opened', 'arn:aws:s3:::opened/*'],
  ),
]);

/** Starts a bucket and points the environment of this process at it, as Lambda does for a function. */
export async function startOwnBucket(): Promise<OwnBucket> {
  const aws = await startLocalAws({
    roles: [worker],
    change: (stack) =>
      stack.buckets.push(
        { ...bareBucket, logicalId: 'Opened', name: 'opened', arn: 'arn:aws:s3:::opened' },
        { ...bareBucket, logicalId: 'Closed', name: 'closed', arn: 'arn:aws:s3:::closed' },
      ),
  });
  const { accessKeyId, secretAccessKey, sessionToken } = aws.credentials(worker);
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_ENDPOINT_URL_S3: `${aws.origin}/_aws/s3`,
    LATHE_BUCKET: 'lathe-files',
    POWERTOOLS_DEV: 'true',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  });
  const client = aws.s3(worker);
  return {
    client,
    async read(file) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: 'lathe-files', Key: file.key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async keys() {
      const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'lathe-files' }));
      return (Contents ?? []).flatMap(({ Key }) => Key ?? []);
    },
    [Symbol.asyncDispose]: () => aws[Symbol.asyncDispose](),
  };
}

/** Makes a run of an operation as the worker does. */
export function makeRun(operation: string, parameters: JsonObject, inputs: Task[] = []): Run & { abort(): void } {
  const task = makeTask(operation, parameters);
  const controller = new AbortController();
  return {
    task,
    parameters,
    attempt: 1,
    inputs,
    signal: controller.signal,
    progress: () => undefined,
    logger: new Logger({ logLevel: 'SILENT' }),
    abort: () => controller.abort(new Error('The task was canceled.')),
  };
}

/** Makes a completed task that holds files, stored in the bucket of the service. */
export async function makeInput(contents: { name: string; content: Buffer; mediaType?: string }[]): Promise<Task> {
  const task = makeTask('import/upload', {});
  const files = await Promise.all(
    contents.map(async ({ name, content, mediaType = 'application/octet-stream' }, index): Promise<StoredFile> => {
      const key = `files/${task.id}/1/${index}`;
      await putObject(key, content, mediaType);
      return { key, name, size: content.length, format: '', mediaType, token: 'token' };
    }),
  );
  return { ...task, status: 'completed', files };
}

function makeTask(operation: string, payload: JsonObject): Task {
  const now = new Date().toISOString();
  return {
    id: newId(Date.now()),
    user: newId(Date.now()),
    name: 'transfer',
    operation,
    status: 'processing',
    payload,
    dependsOn: [],
    waitsFor: [],
    dependents: [],
    files: [],
    attempt: 1,
    createdAt: now,
    updatedAt: now,
    expiresAt: now,
    version: 1,
  };
}

/** Returns the conduct of a deployment that is less patient and lets transfers reach the loopback address. */
export function makeConduct(change: Partial<Conduct> = {}): Conduct {
  return {
    patience: { tries: 4, backOffMs: 1, stallMs: 2_000 },
    outbound: { allow: new Set(['127.0.0.1']) },
    maxFileBytes: 500_000_000,
    ...change,
  };
}

/** Makes content that no transfer can shorten or repeat unnoticed. */
export function noise(bytes: number): Buffer {
  return randomBytes(bytes);
}

/** Returns the failure of a task that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<{ errorCode: string; msg: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error && 'failure' in error) {
      const { failure } = error;
      if (isFailure(failure)) return failure;
    }
    throw new Error('It failed, but not in a way that a user is told.', { cause: error });
  }
  throw new Error('It should have failed.');
}

function isFailure(value: unknown): value is { errorCode: string; msg: string } {
  return typeof value === 'object' && value !== null && 'errorCode' in value && 'msg' in value;
}
