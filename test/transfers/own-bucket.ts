import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { allow, type LocalAws, role, startLocalAws } from '../../packages/local-aws/test/gate/fixture.ts';
import { putObject } from '../../shared/aws/objects.ts';
import type { StoredFile, Task } from '../../shared/tasks/task.ts';
import { makeTask } from './run.ts';

/** The bucket of the service, as a function of it sees it. */
export interface OwnBucket extends AsyncDisposable {
  client: ReturnType<LocalAws['s3']>;
  read(file: StoredFile): Promise<Buffer>;
  keys(): Promise<string[]>;
  deleteAllBut(...keys: string[]): Promise<void>;
}

export const bareBucket = { cors: [], notifications: [], policy: [], expirations: [], abortions: [] };

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
    async deleteAllBut(...kept) {
      const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'lathe-files' }));
      for (const { Key } of Contents ?? [])
        if (Key && !kept.includes(Key)) await client.send(new DeleteObjectCommand({ Bucket: 'lathe-files', Key }));
    },
    [Symbol.asyncDispose]: () => aws[Symbol.asyncDispose](),
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

/** Makes the private key of a service account. */
export function gcsKey(): string {
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
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
    throw new Error('It failed, but not in a way that is reported to a user.', { cause: error });
  }
  throw new Error('It should have failed.');
}

function isFailure(value: unknown): value is { errorCode: string; msg: string } {
  return typeof value === 'object' && value !== null && 'errorCode' in value && 'msg' in value;
}
