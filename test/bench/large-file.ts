import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { mkdtempDisposable, open, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { sandboxProcesses } from '../../functions/engines/runtime/sandbox/processes.ts';
import { bundlingOf } from '../../infra/bundling.ts';
import { functionOf, type RunningService, stackOf, startService } from '../support/running-stack.ts';
import { startS3Store } from '../transfers/stores.ts';
import type { ClientReport, ClientWork } from './large-file-client.ts';
import { peakMemory } from './peak-memory.ts';
import { formatTable } from './table.ts';

const run = promisify(execFile);

const maxPeakBytes = 250e6;
/** Distance of the marks: every part of the upload and of the transfers has other content. */
const markDistance = 4 * 1024 ** 2;
/** The bucket of the service and the store each keep the file during a transfer. */
const copies = 2;
const spareBytes = 1e9;

/** Passes a sparse file through an upload in parts, an export to a store, an import from it, and a download. */
export async function benchLargeFile(bytes: number): Promise<{ report: string; passed: boolean }> {
  await requireDisk(copies * bytes + spareBytes);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-large-file-'));
  const path = join(folder.path, 'large.bin');
  await writeSparse(path, bytes);
  const sha256 = await digestOf(path);
  // Bundled, because parsing TypeScript takes memory that the published client does not need.
  await build({ ...bundlingOf('test/bench/large-file-client.ts'), outdir: folder.path, logLevel: 'silent' });
  await using store = await startS3Store();
  await using service = await startService({
    LATHE_ALLOW_HOSTS: '127.0.0.1',
    LATHE_MAX_FILE_BYTES: String(bytes),
  });
  const { bucket, credentials } = store;
  const work: ClientWork = {
    url: service.url,
    key: service.apiKey,
    path,
    store: { bucket, region: 'us-east-1', endpoint: store.endpoint(), ...credentials, key: 'large.bin' },
  };
  const peaks = new FunctionPeaks(service);
  const { stdout } = await peaks.during(() =>
    run(process.execPath, [join(folder.path, 'index.mjs'), JSON.stringify(work)]),
  );
  const client: ClientReport = JSON.parse(stdout);
  if (client.size !== bytes || client.sha256 !== sha256)
    throw new Error(`Expected ${bytes} bytes with the digest ${sha256} but received ${stdout}`);
  const transfers = functionOf(await stackOf(service), 'functions/transfers/handler.ts').name;
  const measured = [['client', client.peakBytes] as const, ...peaks.byFunction];
  if (!peaks.byFunction.has(transfers)) throw new Error('The function of the transfers was not seen.');
  return {
    report: [
      formatTable(
        ['', 'seconds', 'MB/s'],
        client.steps.map(([name, ms]) => [name, (ms / 1e3).toFixed(1), (bytes / 1e3 / ms).toFixed(0)]),
      ),
      '',
      formatTable(
        ['peak resident memory', 'MB', 'at most'],
        measured.map(([name, peak]) => [name, (peak / 1e6).toFixed(0), (maxPeakBytes / 1e6).toFixed(0)]),
      ),
      '',
      `The file has the same ${bytes} bytes and SHA-256 at the end.`,
    ].join('\n'),
    passed: measured.every(([, peak]) => peak <= maxPeakBytes),
  };
}

async function requireDisk(bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  if (bavail * bsize < bytes)
    throw new Error(`Expected ${bytes} free bytes in ${tmpdir()}, which TMPDIR changes, but it has ${bavail * bsize}.`);
}

/** Writes a file of holes with random marks between them, so that no part can be lost or exchanged unnoticed. */
async function writeSparse(path: string, bytes: number): Promise<void> {
  await using file = await open(path, 'w');
  await file.truncate(bytes);
  const mark = 4096;
  for (let at = 0; at + mark <= bytes; at += markDistance) await file.write(randomBytes(mark), 0, mark, at);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 ** 2 }), hash);
  return hash.digest('hex');
}

/** Collects the peak memory of the processes of functions. An idle one stays long enough to be read. */
class FunctionPeaks {
  readonly byFunction = new Map<string, number>();
  readonly #service: RunningService;
  readonly #names = new Map<number, string>();

  constructor(service: RunningService) {
    this.#service = service;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => this.#sample(), 200);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      this.#sample();
    }
  }

  #sample(): void {
    for (const { pid } of sandboxProcesses(this.#service.pid)) {
      try {
        const name = this.#names.get(pid) ?? functionName(pid);
        if (name === undefined) continue;
        this.#names.set(pid, name);
        const peak = peakMemory(pid);
        // A process that is just ending has no memory.
        if (peak > (this.byFunction.get(name) ?? 0)) this.byFunction.set(name, peak);
      } catch (error) {
        // The process has just ended.
        if (!(error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')))
          throw error;
      }
    }
  }
}

/** Returns the name of the function that a process belongs to. One that was just forked has none yet. */
function functionName(pid: number): string | undefined {
  return /(?:^|\0)AWS_LAMBDA_FUNCTION_NAME=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
}
