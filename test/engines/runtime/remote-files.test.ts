import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import busboy from 'busboy';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentOf, fetchFile, postFile, putParts } from '../../../functions/engines/runtime/remote-files.ts';
import { watchRun } from '../../../functions/engines/runtime/run-watch.ts';
import { Folder } from '../../../functions/engines/runtime/sandbox/folder.ts';

const content = randomBytes(300_000);

let folder: string;
let server: Server;
let url: string;
/** What the store does with each request in turn; the last is for all that follow. */
let behaviour: ((req: IncomingMessage, res: ServerResponse) => void)[];
let requests: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  requests = 0;
  server = createServer((req, res) => {
    behaviour[Math.min(requests, behaviour.length - 1)]?.(req, res);
    requests += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

const status = (code: number) => (req: IncomingMessage, res: ServerResponse) => {
  req.resume();
  res.writeHead(code).end('<Error/>');
};
const send = (_req: IncomingMessage, res: ServerResponse) => res.end(content);
const sendHalf = (_req: IncomingMessage, res: ServerResponse) => {
  res.writeHead(200, { 'content-length': content.length });
  res.write(content.subarray(0, 1000), () => res.destroy());
};
const disconnect = (req: IncomingMessage) => req.socket.destroy();
const untilTheEnd = () => new AbortController().signal;

/** Fetches to a file as the engine's function does, and returns its content. */
async function fetched(signal = untilTheEnd()): Promise<Buffer> {
  const inputs = Folder.open(folder);
  const descriptor = inputs.create('in', { mode: 0o600 });
  try {
    await fetchFile(url, descriptor, signal);
    return await readFile(join(folder, 'in'));
  } finally {
    closeSync(descriptor);
    inputs.close();
  }
}

describe('An input', () => {
  test.for([
    ['sent at once', [send]],
    ['of a store that is overloaded at first', [status(503), status(500), send]],
    ['whose connection is lost half-way', [sendHalf, disconnect, send]],
  ] as const)('%s is whole on disk', async ([, given]) => {
    behaviour = [...given];
    expect(await fetched()).toEqual(content);
    expect(requests).toBe(given.length);
  });

  test('that the store refuses is asked for once', async () => {
    behaviour = [status(403)];
    await expect(fetched()).rejects.toThrow('status 403');
    expect(requests).toBe(1);
  });

  test('that never comes is given up after a few attempts', async () => {
    behaviour = [status(500)];
    await expect(fetched()).rejects.toThrow('status 500');
    expect(requests).toBe(4);
  });

  test('is given up as soon as the run is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('canceled');
    behaviour = [() => controller.abort(reason)];
    await expect(fetched(controller.signal)).rejects.toBe(reason);
  });
});

describe('An output', () => {
  test('is posted with the fields of the form first, under its own key, also after a lost connection', async () => {
    await writeFile(join(folder, 'out'), content);
    const file = Folder.open(folder).openFile(['out']);
    const order: string[] = [];
    const received: Buffer[] = [];
    let length = 0;
    const accept = (req: IncomingMessage, res: ServerResponse) => {
      length = Number(req.headers['content-length']);
      const form = busboy({ headers: req.headers });
      form.on('field', (name, value) => order.push(`${name}=${value}`));
      form.on('file', (name, file) => {
        order.push(name);
        file.on('data', (chunk: Buffer) => received.push(chunk));
      });
      form.on('close', () => res.writeHead(204, { etag: '"0"' }).end());
      req.pipe(form);
    };
    behaviour = [disconnect, accept];
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as the library signs it
    const fields = { key: 'files/a/1/${filename}', Policy: 'p', 'X-Amz-Signature': 's' };

    const etag = await postFile(contentOf(file), 'files/a/1/0', { url, fields, prefix: 'files/a/1/' }, untilTheEnd());

    expect(etag).toBe('"0"');
    expect(order).toEqual(['key=files/a/1/0', 'Policy=p', 'X-Amz-Signature=s', 'file']);
    expect(Buffer.concat(received)).toEqual(content);
    // S3 takes no form whose length it is not told.
    expect(length).toBeGreaterThan(content.length);
  });

  test('is not held in memory while it is sent', async () => {
    const size = 400_000_000;
    // A hole, which takes no space.
    await writeFile(join(folder, 'out'), '');
    await truncate(join(folder, 'out'), size);
    const file = Folder.open(folder).openFile(['out']);
    let most = 0;
    behaviour = [
      (req, res) => {
        req.on('data', () => {
          most = Math.max(most, process.memoryUsage().arrayBuffers);
        });
        req.on('end', () => res.writeHead(204, { etag: '"0"' }).end());
      },
    ];
    await postFile(contentOf(file), 'key', { url, fields: {}, prefix: '' }, untilTheEnd());
    expect(most).toBeLessThan(size / 2);
  });
});

describe('A large output', () => {
  /** Stores a file of this size in parts of 100,000 bytes, and returns its tags and the requests that stored a part. */
  async function stored(given: Buffer) {
    await writeFile(join(folder, 'out'), given);
    const { size, slice } = contentOf(Folder.open(folder).openFile(['out']));
    if (!slice) throw new Error('Expected the content of a file.');
    const received = new Map<string, Buffer>();
    const accept = (req: IncomingMessage, res: ServerResponse) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const body = Buffer.concat(chunks);
        if (Number(req.headers['content-length']) === body.length) received.set(String(req.url), body);
        res.writeHead(200, { etag: `"${req.url}"` }).end();
      });
    };
    behaviour = [disconnect, status(503), accept];
    const large = { overBytes: 0, partBytes: 100_000, parts: [`${url}/1`, `${url}/2`], rest: `${url}/3` };
    return { tags: await putParts({ size, slice }, large, untilTheEnd()), received };
  }

  test.for([
    ['with a rest that is larger than a part', 300_000, [100_000, 100_000, 100_000]],
    ['with a smaller rest', 100_001, [100_000, undefined, 1]],
    ['without a rest', 200_000, [100_000, 100_000, undefined]],
  ] as const)('%s is whole, also after a lost connection and an overload', async ([, size, sizes]) => {
    const { tags, received } = await stored(content.subarray(0, size));

    const parts = ['/1', '/2', '/3'].map((path) => received.get(path));
    expect(parts.map((part) => part?.length)).toEqual(sizes);
    expect(Buffer.concat(parts.flatMap((part) => part ?? []))).toEqual(content.subarray(0, size));
    expect(tags).toEqual([...received.keys()].sort().map((path) => `"${path}"`));
  });

  test('that the store refuses is given up at once', async () => {
    await writeFile(join(folder, 'out'), content);
    const { size, slice } = contentOf(Folder.open(folder).openFile(['out']));
    if (!slice) throw new Error('Expected the content of a file.');
    behaviour = [status(403)];
    const large = { overBytes: 0, partBytes: 300_000, parts: [url], rest: url };
    await expect(putParts({ size, slice }, large, untilTheEnd())).rejects.toThrow('status 403');
    expect(requests).toBe(1);
  });
});

describe('A run', () => {
  const silent = { warn: () => {} };

  test('is aborted when the object that revokes it appears, and survives a store that fails', async () => {
    behaviour = [status(404), disconnect, status(403), status(200)];
    const watch = watchRun({ revoked: url, deadline: Date.now() + 60_000 }, silent);
    await new Promise((resolve) => watch.signal.addEventListener('abort', resolve));
    expect(watch.signal.reason).toMatchObject({ name: 'RunRevoked', message: 'The run was revoked.' });
    expect(requests).toBe(4);
    watch.stop();
  });

  test('is aborted when it is out of time', async () => {
    behaviour = [status(404)];
    const watch = watchRun({ revoked: url, deadline: Date.now() + 20 }, silent);
    await new Promise((resolve) => watch.signal.addEventListener('abort', resolve));
    expect(watch.signal.reason).toMatchObject({ message: 'The run is out of time.' });
    watch.stop();
  });
});
