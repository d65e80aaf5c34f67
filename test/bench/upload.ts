import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Client } from '../support/client.ts';
import { startService } from '../support/running-stack.ts';
import type { TransferMeasure } from './transfer.ts';

const run = promisify(execFile);

/** Posts a file to an upload form until its task has completed, and puts the same file to a presigned URL. */
export async function benchUpload(file: string, bytes: number): Promise<TransferMeasure> {
  await using service = await startService();
  const caller = await service.as('functions/transfers/handler.ts');
  const Bucket = caller.fn.environment.LATHE_BUCKET;
  const address = await getSignedUrl(
    new S3Client(caller.client('s3')),
    new PutObjectCommand({ Bucket, Key: 'files/bare' }),
  );
  const bare = await timed(() => run('curl', ['-sf', '-T', file, address]));
  const ours = await timed(() => uploadByForm(service.client, file));
  return { name: 'import/upload', ours: bytes / ours, bare: bytes / bare };
}

/** Posts a file to the form of a new upload task, waits until it has completed, and returns its id. */
export async function uploadByForm(client: Client, file: string): Promise<string> {
  const { id, result } = await client.createTask('import/upload');
  const fields = Object.entries(result.form?.parameters ?? {}).flatMap(([name, value]) => [
    '--form-string',
    `${name}=${value}`,
  ]);
  await run('curl', ['-sf', ...fields, '-F', `file=@${file}`, result.form?.url ?? '']);
  const { status } = await client.waitForTask(id);
  if (status !== 'completed') throw new Error(`The upload ${status}.`);
  return id;
}

/** Returns the seconds that some work takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
