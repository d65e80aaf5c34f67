import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportBlobstore, importBlobstore } from '../../functions/transfers/blobstore.ts';
import { importUrl } from '../../functions/transfers/import-url.ts';
import { exportObjstoreA, importObjstoreA } from '../../functions/transfers/objstore-a.ts';
import { exportObjstoreB, importObjstoreB } from '../../functions/transfers/objstore-b.ts';
import type { TransferSettings } from '../../functions/transfers/receive.ts';
import { exportSftp, importSftp } from '../../functions/transfers/sftp.ts';
import type { Run, RunResult } from '../../functions/worker/worker.ts';
import type { JsonObject } from '../../shared/tasks/task.ts';
import { failureOf, gcsKey, makeInput, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';

let own: OwnBucket;
let port: number;
/** Takes connections and says nothing, as a host behind a broken balancer does. */
const silent = createServer((socket) => socket.on('error', () => undefined).resume());

beforeAll(async () => {
  own = await startOwnBucket();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  port = address.port;
  process.env.LATHE_STANDIN_AZURE = `http://127.0.0.1:${port}`;
  process.env.LATHE_STANDIN_GCS = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  delete process.env.LATHE_STANDIN_AZURE;
  delete process.env.LATHE_STANDIN_GCS;
  silent.close();
  await own[Symbol.asyncDispose]();
});

const s3 = () => ({
  bucket: 'bucket',
  region: 'us-east-1',
  endpoint: `http://127.0.0.1:${port}`,
  access_key_id: 'a',
  secret_access_key: 'b',
  key: 'k',
});
const azure = () => ({ storage_account: 'account', container: 'files', storage_access_key: 'YQ==', blob: 'b' });
const google = () => ({ project_id: 'p', bucket: 'b', client_email: 'a@b', private_key: gcsKey(), file: 'f' });
const sftp = () => ({ host: '127.0.0.1', port, username: 'u', password: 'p', file_string: '/f' });

type Transfer = (run: Run, settings: TransferSettings) => Promise<RunResult>;
const transfers: [string, Transfer, () => JsonObject][] = [
  ['import/url', importUrl, () => ({ url: `http://127.0.0.1:${port}/` })],
  ['import/objstore_a', importObjstoreA, s3],
  ['export/objstore_a', exportObjstoreA, s3],
  ['import/objstore_b', importObjstoreB, google],
  ['export/objstore_b', exportObjstoreB, google],
  ['import/blobstore', importBlobstore, azure],
  ['export/blobstore', exportBlobstore, azure],
  ['import/sftp', importSftp, sftp],
  ['export/sftp', exportSftp, sftp],
];

describe('A store that accepts the connection and never responds', () => {
  it.each(transfers)(
    'fails %s in time, with a message that says so',
    async (operation, transfer, parameters) => {
      const inputs = operation.startsWith('export')
        ? [await makeInput([{ name: 'a', content: Buffer.from('a') }])]
        : [];
      const settings = makeSettings({ retryPolicy: { maxAttempts: 2, backoffMs: 1, idleTimeoutMs: 500 } });
      const failure = await failureOf(transfer(makeRun(operation, parameters(), inputs), settings));
      expect(failure.errorCode).toBe('processing_failed');
      expect(failure.msg).toMatch(/did not respond in time/);
    },
    20_000,
  );
});
