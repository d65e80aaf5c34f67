import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Upload } from '@aws-sdk/lib-storage';
import { build } from 'esbuild';
import { catalogue } from '../../functions/catalogue/transfers/catalogue.ts';
import { bundlingOf } from '../../infra/bundling.ts';
import type { JsonObject, StoredFile } from '../../shared/tasks/task.ts';
import { startFileServer } from '../transfers/file-server.ts';
import { gcsKey, type OwnBucket, startOwnBucket } from '../transfers/own-bucket.ts';
import { findGcsServer, startAzurite, startGcsServer, startS3Store, startSshd } from '../transfers/stores.ts';
import { formatTable } from './table.ts';
import type { Assignment } from './transfer-worker.ts';
import { benchUpload } from './upload.ts';

const run = promisify(execFile);

export interface TransferMeasure {
  name: string;
  /** Bytes per second through the service's own code. */
  ours: number;
  /** Bytes per second with the plain tool or library of the protocol on the same servers. */
  bare: number;
  /** Peak memory of the worker's process in bytes; absent if no worker touches the file. */
  peakBytes?: number;
}

export interface TransferLoad {
  bytes: number;
  /** Selects measurements. */
  only(name: string): boolean;
}

/** Passes a large file through each import and export, and through the plain tool, each in a separate process. */
export async function benchTransfer({ bytes, only }: TransferLoad = { bytes: 2 * 1024 ** 3, only: () => true }) {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-bench-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'large.bin');
  await writeNoise(file, bytes);
  const worker = await bundleWorker(folder);
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
  const ssh = { port: sshd.port, keyFile: sshd.keyFile, username: sshd.username };
  const perform = async (given: Pick<Assignment, 'operation' | 'parameters' | 'inputs' | 'bare'>) => {
    const assignment: Assignment = { ...given, scratch: join(folder, 'scratch'), ssh };
    // As deployed; the plain copy runs with Node's defaults.
    const nodeOptions = given.bare ? undefined : catalogue.resources.nodeOptions;
    const { stdout } = await run(process.execPath, [worker, JSON.stringify(assignment)], {
      env: { ...environment, ...(nodeOptions === undefined ? {} : { NODE_OPTIONS: nodeOptions }) },
    });
    const result: { seconds: number; peakBytes: number } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}');
    return result;
  };

  const whole = await storeInput(own, file, 'large', { start: 0, end: bytes - 1 });
  const halves = [
    await storeInput(own, file, 'left', { start: 0, end: bytes / 2 - 1 }),
    await storeInput(own, file, 'right', { start: bytes / 2, end: bytes - 1 }),
  ];
  const kept = [whole, ...halves].map(({ key }) => key);
  const measures: TransferMeasure[] = [];
  const add = (measured: TransferMeasure) => {
    measures.push(measured);
    // Each takes minutes.
    process.stderr.write(`${row(measured).join('  ')}\n`);
  };
  const measure = async (operation: string, parameters: JsonObject, inputs: StoredFile[] = [], name = operation) => {
    // An export leaves its file in the store for the import after it.
    if (!only(name) && !only(name.replace('export', 'import'))) return;
    const given = { operation, parameters, inputs };
    const bare = await perform({ ...given, bare: true });
    await own.deleteAllBut(...kept);
    const ours = await perform({ ...given, bare: false });
    await own.deleteAllBut(...kept);
    add({ name, ours: bytes / ours.seconds, bare: bytes / bare.seconds, peakBytes: ours.peakBytes });
  };

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
  const sftp = {
    host: '127.0.0.1',
    port: sshd.port,
    username: sshd.username,
    private_key: sshd.privateKey,
    file_string: join(sshd.folder, 'large.bin'),
  };
  const google = {
    project_id: 'project',
    bucket: 'customer',
    client_email: 'robot@example.com',
    private_key: gcsKey(),
    file: 'large.bin',
  };

  if (only('import/upload')) add(await benchUpload(file, bytes));
  await measure('import/url', { url: server.url });
  await measure('export/url', {}, [whole]);
  await measure('export/url', { archive_multiple_files: true }, halves, 'export/url, one ZIP of two files');
  await measure('export/objstore_a', s3, [whole]);
  await measure('import/objstore_a', s3);
  await measure('export/blobstore', blob, [whole]);
  await measure('import/blobstore', blob);
  await measure('export/sftp', sftp, [whole]);
  await measure('import/sftp', sftp);
  if (gcs) {
    await measure('export/objstore_b', google, [whole]);
    await measure('import/objstore_b', google);
  } else if ('missing' in program) {
    process.stderr.write(`\n*** SKIPPED: Google Cloud Storage, because ${program.missing}. ***\n`);
  }
  return measures;
}

/** Formats measurements with their ratios, and lists those not taken. */
export function formatTransfers(measures: TransferMeasure[]): string {
  const table = formatTable(['', 'ours', 'bare', 'ratio', 'peak memory'], measures.map(row));
  return `${table}\n\nNot among them: import/base64, which takes 1.5 MB at most, and import/webpage, which takes 100 MB at most.`;
}

function row({ name, ours, bare, peakBytes }: TransferMeasure): string[] {
  return [
    name,
    `${megabytes(ours)} MB/s`,
    `${megabytes(bare)} MB/s`,
    `${(ours / bare).toFixed(2)}×`,
    peakBytes === undefined ? 'no worker' : `${megabytes(peakBytes)} MB`,
  ];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

/** Bundles the worker as deployed: parsing TypeScript takes memory that no function uses. */
async function bundleWorker(folder: string): Promise<string> {
  await build({ ...bundlingOf('test/bench/transfer-worker.ts'), outdir: folder, logLevel: 'silent' });
  return join(folder, 'index.mjs');
}

async function storeInput(
  { client }: OwnBucket,
  file: string,
  name: string,
  part: { start: number; end: number },
): Promise<StoredFile> {
  const mediaType = 'application/octet-stream';
  const key = `files/${name}`;
  const params = { Bucket: 'lathe-files', Key: key, Body: createReadStream(file, part), ContentType: mediaType };
  await new Upload({ client, params }).done();
  return { key, name: `${name}.bin`, size: part.end - part.start + 1, format: '', mediaType, token: 't' };
}

async function writeNoise(path: string, bytes: number): Promise<void> {
  const block = randomBytes(8 * 1024 ** 2);
  const file = await open(path, 'w');
  try {
    for (let left = bytes; left > 0; left -= block.length) await file.write(block, 0, Math.min(block.length, left));
  } finally {
    await file.close();
  }
}
