import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exportBlobstore, importBlobstore } from '../../functions/transfers/blobstore.ts';
import { importUrl } from '../../functions/transfers/import-url.ts';
import { exportObjstoreA, importObjstoreA } from '../../functions/transfers/objstore-a.ts';
import { exportObjstoreB, importObjstoreB } from '../../functions/transfers/objstore-b.ts';
import { defaultPace, type Pace, PaceMeter } from '../../functions/transfers/pace.ts';
import type { TransferSettings } from '../../functions/transfers/receive.ts';
import type { Run, RunResult } from '../../functions/worker/worker.ts';
import type { JsonObject, Task } from '../../shared/tasks/task.ts';
import { type FileServer, startFileServer } from './file-server.ts';
import { failureOf, gcsKey, makeInput, noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';

const second = 1_000;

describe('The pace of a transfer', () => {
  const measure = () => {
    let now = 0;
    const meter = new PaceMeter(defaultPace, () => now);
    return {
      meter,
      /** Lets seconds pass, in each of which the other side moves so many bytes; says after how many it was too slow. */
      pass(seconds: number, bytes: number): number | undefined {
        for (let passed = 1; passed <= seconds; passed++) {
          now += second;
          meter.count(bytes);
          if (meter.isTooSlow) return passed;
        }
        return undefined;
      },
    };
  };

  it('is too slow after a minute at one byte per second, and never at the required minimum', () => {
    expect(measure().pass(900, 1)).toBe(61);
    expect(measure().pass(900, defaultPace.bytesPerSecond)).toBeUndefined();
  });

  it('is measured over any minute: what came fast before does not count for long', () => {
    const { pass } = measure();
    expect(pass(300, 50_000_000)).toBeUndefined();
    expect(pass(900, 1)).toBeLessThanOrEqual(66);
  });

  it('bears a pause of less than a minute', () => {
    const { pass } = measure();
    for (let round = 0; round < 10; round++) {
      expect(pass(50, 0)).toBeUndefined();
      expect(pass(1, 2_000_000)).toBeUndefined();
    }
  });

  it('leaves out the time that we take to store or to fetch', () => {
    const { meter, pass } = measure();
    expect(pass(50, 1)).toBeUndefined();
    meter.ourTurn();
    expect(pass(3_600, 0)).toBeUndefined();
    meter.itsTurn();
    expect(pass(60, 0)).toBe(11);
  });

  it('gives more time to the first byte and to the last word', () => {
    const { meter, pass } = measure();
    expect(pass(179, 0)).toBeUndefined();
    expect(pass(30, 100_000)).toBeUndefined();
    meter.expectSilence();
    expect(pass(179, 0)).toBeUndefined();
    expect(pass(1, 0)).toBe(1);
    expect(meter.describe('accepted')).toMatch(/did not respond within 180 seconds/);
  });
});

const fast: Pace = { bytesPerSecond: 16 * 1024, windowMs: 240, silenceMs: 60_000 };
/** With long timeouts, so that nothing but the pace can end a transfer. */
const settings = (pace = fast): TransferSettings =>
  makeSettings({ pace, retryPolicy: { maxAttempts: 9, backoffMs: 1, idleTimeoutMs: 30_000 } });

let own: OwnBucket;
let server: FileServer;
const timers = new Set<NodeJS.Timeout>();

/** Does something every few milliseconds until the test is over. */
function dribble(step: () => void): void {
  timers.add(setInterval(step, 10));
}

beforeAll(async () => {
  own = await startOwnBucket();
  server = await startFileServer((request, response) =>
    request.method === 'GET' ? give(request, response) : take(request, response),
  );
  process.env.LATHE_STANDIN_AZURE = server.url;
  process.env.LATHE_STANDIN_GCS = server.url;
});
afterEach(() => {
  for (const timer of timers) clearInterval(timer);
  timers.clear();
});
afterAll(async () => {
  delete process.env.LATHE_STANDIN_AZURE;
  delete process.env.LATHE_STANDIN_GCS;
  await server[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

/** Sends a file a byte at a time, in the ways of every store. */
function give(request: IncomingMessage, response: ServerResponse): void {
  if (request.url?.startsWith('/storage/') && !request.url.includes('alt=media')) {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ size: '1000000', generation: '1' }));
    return;
  }
  response.writeHead(200, { 'content-length': 1_000_000, etag: '"tag"', 'x-ms-blob-type': 'BlockBlob' });
  dribble(() => response.write('x'));
}

/** Takes a file a byte at a time, in the ways of every store. */
function take(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'POST') {
    response.setHeader('location', `${server.url}/session`);
    response.end('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>');
    return;
  }
  if (request.method === 'DELETE') response.writeHead(204).end();
  else dribble(() => request.read(1));
}

const s3 = () => ({
  bucket: 'bucket',
  region: 'us-east-1',
  endpoint: server.url,
  access_key_id: 'a',
  secret_access_key: 'b',
  key: 'k',
});
const azure = () => ({ storage_account: 'account', container: 'files', storage_access_key: 'YQ==', blob: 'b' });
const google = () => ({ project_id: 'p', bucket: 'b', client_email: 'a@b', private_key: gcsKey(), file: 'f' });

type Transfer = (run: Run, settings: TransferSettings) => Promise<RunResult>;

describe('A source that sends a byte at a time', () => {
  const imports: [string, Transfer, () => JsonObject][] = [
    ['import/url', importUrl, () => ({ url: `${server.url}/` })],
    ['import/objstore_a', importObjstoreA, s3],
    ['import/objstore_b', importObjstoreB, google],
    ['import/blobstore', importBlobstore, azure],
  ];
  it.each(imports)('fails %s with a message that says so', async (operation, transfer, parameters) => {
    const failure = await failureOf(transfer(makeRun(operation, parameters()), settings()));
    expect(failure).toEqual({
      errorCode: 'processing_failed',
      msg: 'The other side sent less than 16 KB per second over 0 seconds, so the transfer was aborted.',
    });
    expect(await own.keys()).toEqual([]);
  });

  it.each([
    ['import/url', importUrl, (url: string) => ({ url })],
    ['import/objstore_a', importObjstoreA, (endpoint: string) => ({ ...s3(), endpoint })],
  ] as [string, Transfer, (url: string) => JsonObject][])(
    'fails %s of dripping headers too',
    async (operation, transfer, parameters) => {
      const head = 'HTTP/1.1 200 OK\r\nx-a: '.concat('a'.repeat(10_000));
      let sent = 0;
      const dripping = createServer((socket) => {
        socket.on('error', () => undefined).resume();
        dribble(() => socket.writable && socket.write(head[sent++] ?? 'a'));
      });
      await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve));
      const address = dripping.address();
      if (address === null || typeof address === 'string') throw new Error('The server has no port.');
      try {
        const url = `http://127.0.0.1:${address.port}`;
        const failure = await failureOf(
          transfer(makeRun(operation, parameters(url)), settings({ ...fast, silenceMs: 480 })),
        );
        expect(failure.msg).toMatch(/did not respond within 0 seconds, so the transfer was aborted/);
      } finally {
        dripping.close();
      }
    },
  );
});

describe('A store that takes a byte at a time', () => {
  let input: Task;
  beforeAll(async () => {
    // More than the buffers on the way hold.
    input = await makeInput([{ name: 'a', content: noise(24_000_000) }]);
  });
  const exports: [string, Transfer, () => JsonObject][] = [
    ['export/objstore_a', exportObjstoreA, s3],
    ['export/objstore_b', exportObjstoreB, google],
    ['export/blobstore', exportBlobstore, azure],
  ];
  it.each(exports)('fails %s with a message that says so', async (operation, transfer, parameters) => {
    const failure = await failureOf(transfer(makeRun(operation, parameters(), [input]), settings()));
    expect(failure).toEqual({
      errorCode: 'processing_failed',
      msg: 'The other side accepted less than 16 KB per second over 0 seconds, so the transfer was aborted.',
    });
  });
});
