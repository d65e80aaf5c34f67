import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Upload } from '@aws-sdk/lib-storage';
import { build } from 'esbuild';
import { bundling, projectRoot } from '../../infra/bundling.ts';
import type { JsonObject, StoredFile } from '../../shared/tasks/task.ts';
import { startFileServer } from '../transfer/file-server.ts';
import { gcsKey, startOwnBucket } from '../transfer/own-bucket.ts';
import { findGcsServer, startAzurite, startGcsServer, startS3Store, startSshd } from '../transfer/stores.ts';
import type { Assignment } from './transfer-worker.ts';

const run = promisify(execFile);

export interface TransferMeasure {
  name: string;
  /** Bytes per second through the service's own code. */
  ours: number;
  /** Bytes per second with the plain tool or library of the protocol on the same servers. */
  bare: number;
  /** Most memory that the worker's process ever had. */
  memoryMegabytes?: number;
}

/** Passes a large file through each import and export, and through the plain tool beside it, each in a process of its own. */
export async function benchTransfer(bytes = 2 * 1024 ** 3): Promise<TransferMeasure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-bench-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'large.bin');
  await writeNoise(file, bytes);
  // Bundled as it is deployed: reading TypeScript takes memory that no function spends.
  const worker = join(folder, 'worker.mjs');
  await build({
    entryPoints: [join(projectRoot, 'test/bench/transfer-worker.ts')],
    outfile: worker,
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: bundling.minify,
    target: bundling.target,
    mainFields: bundling.mainFields,
    external: ['*.node', 'cpu-features'],
    banner: { js: bundling.banner },
    logLevel: 'silent',
  });

  const own = stack.use(await startOwnBucket());
  const store = stack.use(await startS3Store());
  const azure = stack.use(await startAzurite());
  const sshd = stack.use(await startSshd());
  const program = await findGcsServer();
  const gcs = 'path' in program ? stack.use(await startGcsServer(program.path)) : undefined;
  const server = stack.use(
    await startFileServer((_request, response) => {
      response.writeHead(200, { 'content-length': bytes, etag: '"large"' });
      createReadStream(file, { highWaterMark: 1024 ** 2 }).pipe(response);
    }),
  );
  const environment = {
    ...process.env,
    ...(gcs ? { LATHE_STANDIN_GCS: gcs.url } : {}),
    LATHE_STANDIN_AZURE: `http://127.0.0.1:${azure.port}`,
  };
  const perform = async (assignment: Omit<Assignment, 'scratch' | 'ssh'>) => {
    const ssh = { port: sshd.port, keyFile: sshd.keyFile, username: sshd.username };
    const whole: Assignment = { ...assignment, scratch: join(folder, 'scratch'), ssh };
    const { stdout } = await run(process.execPath, [worker, JSON.stringify(whole)], { env: environment });
    const result: { seconds: number; peakMegabytes: number } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}');
    return result;
  };
  const measures: TransferMeasure[] = [];
  const measure = async (
    operation: string,
    parameters: JsonObject,
    input?: StoredFile,
    clear?: () => Promise<void>,
  ) => {
    const given = { operation, parameters, ...(input ? { input } : {}) };
    const bare = await perform({ ...given, bare: true });
    await clear?.();
    const ours = await perform({ ...given, bare: false });
    await clear?.();
    measures.push({
      name: operation,
      ours: bytes / ours.seconds,
      bare: bytes / bare.seconds,
      memoryMegabytes: ours.peakMegabytes,
    });
  };

  const input: StoredFile = {
    key: 'files/large',
    name: 'large.bin',
    size: bytes,
    format: '',
    mediaType: 'application/octet-stream',
    token: 't',
  };
  await new Upload({
    client: own.client,
    params: { Bucket: 'lathe-files', Key: input.key, Body: createReadStream(file) },
    partSize: 8 * 1024 ** 2,
  }).done();
  const clear = () => own.deleteAllBut(input.key);

  const s3 = {
    bucket: store.bucket,
    region: 'us-east-1',
    endpoint: store.endpoint(),
    ...store.credentials,
    key: 'large.bin',
  };
  const blob = {
    storage_account: azure.account,
    container: azure.container,
    storage_access_key: azure.key,
    blob: 'large.bin',
  };
  const sftp = { host: '127.0.0.1', port: sshd.port, username: sshd.username, private_key: sshd.privateKey };
  const google = {
    project_id: 'project',
    bucket: 'customer',
    client_email: 'robot@example.com',
    private_key: gcsKey(),
    file: 'large.bin',
  };

  await measure('import/url', { url: server.url }, undefined, clear);
  // Each export leaves in the store what the import then reads.
  await measure('export/objstore_a', s3, input, clear);
  await measure('import/objstore_a', s3, undefined, clear);
  await measure('export/blobstore', blob, input, clear);
  await measure('import/blobstore', blob, undefined, clear);
  await measure('export/sftp', { ...sftp, file_string: join(sshd.folder, 'large.bin') }, input, clear);
  await measure('import/sftp', { ...sftp, file_string: join(sshd.folder, 'large.bin') }, undefined, clear);
  if (gcs) {
    await measure('export/objstore_b', google, input, clear);
    await measure('import/objstore_b', google, undefined, clear);
  } else if ('missing' in program) {
    process.stderr.write(`\n*** SKIPPED: Google Cloud Storage, because ${program.missing}. ***\n`);
  }
  return measures;
}

async function writeNoise(path: string, bytes: number): Promise<void> {
  const { randomBytes } = await import('node:crypto');
  const block = randomBytes(8 * 1024 ** 2);
  const file = await open(path, 'w');
  try {
    for (let left = bytes; left > 0; left -= block.length) await file.write(block, 0, Math.min(block.length, left));
  } finally {
    await file.close();
  }
}
