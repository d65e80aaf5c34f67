import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ByteRange } from '../../../functions/engines/runtime/byte-ranges.ts';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { fetchIndex, fetchRanges } from '../../../functions/engines/runtime/remote-ranges.ts';

let folder: string;
let server: Server;
let url: string;
let content: Buffer;
let etag: string;
let asked: string[];
/** What the store does with a request instead of responding. Returns whether it did. */
let fault: (res: ServerResponse, first: number, count: number) => boolean;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  content = randomBytes(20 * 1024 * 1024);
  etag = '"one"';
  asked = [];
  fault = () => false;
  server = createServer((req: IncomingMessage, res) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '')?.map(Number) ?? [];
    asked.push(`${first}-${last}`);
    if (first === undefined || last === undefined || fault(res, first, asked.length)) return;
    if (req.headers['if-match'] !== undefined && req.headers['if-match'] !== etag) return void res.writeHead(412).end();
    const sent = content.subarray(first, last + 1);
    const range = `bytes ${first}-${first + sent.length - 1}/${content.length}`;
    res.writeHead(206, { etag, 'content-range': range, 'content-length': sent.length }).end(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function fetched(ranges: ByteRange[] | 'index', signal = new AbortController().signal): Promise<Buffer> {
  const path = join(folder, 'in');
  const descriptor = openSync(path, 'w');
  const source = { url, size: content.length, descriptor, signal };
  try {
    await (ranges === 'index' ? fetchIndex(source) : fetchRanges(source, ranges));
  } finally {
    closeSync(descriptor);
  }
  return readFile(path);
}

/** The content with nothing but these ranges. */
function only(...ranges: ByteRange[]): Buffer {
  const rest = Buffer.alloc(content.length);
  for (const [from, to] of ranges) content.copy(rest, from, from, to);
  return rest;
}

describe('Ranges of an input', () => {
  const ranges: ByteRange[] = [
    [100, 200],
    [1_000_000, 18_000_000],
  ];

  test('are in their places of a file of the same size, which takes no more room', async () => {
    expect((await fetched(ranges)).equals(only(...ranges))).toBe(true);
    const { blocks } = await stat(join(folder, 'in'));
    expect(blocks * 512).toBeLessThan(17_100_000 + 1_000_000);
  });

  test('continue after the last byte when a connection is lost', async () => {
    fault = (res, first, count) => {
      if (count !== 2) return false;
      const sent = content.subarray(first, first + 1_000);
      const end = first + 8 * 1024 * 1024 - 1;
      res.writeHead(206, {
        etag,
        'content-range': `bytes ${first}-${end}/${content.length}`,
        'content-length': 8 * 1024 * 1024,
      });
      res.write(sent, () => setTimeout(() => res.destroy(), 50));
      return true;
    };
    expect((await fetched(ranges)).equals(only(...ranges))).toBe(true);
    expect(asked).toContain('1001000-9388607');
  });

  test.each([
    ['the object changes', () => (etag = '"two"'), 'status 412'],
    ['the object becomes longer', () => (content = Buffer.concat([content, content])), 'Expected bytes'],
  ])('are refused if %s meanwhile', async (_, change, message) => {
    const before = content.length;
    fault = (_res, _first, count) => {
      if (count === 2) change();
      return false;
    };
    const path = join(folder, 'in');
    const descriptor = openSync(path, 'w');
    const source = { url, size: before, descriptor, signal: new AbortController().signal };
    await expect(fetchRanges(source, ranges)).rejects.toThrow(message);
    closeSync(descriptor);
  });

  test('are refused from a store that ignores them', async () => {
    fault = (res) => {
      res.writeHead(200, { etag }).end(content);
      return true;
    };
    await expect(fetched(ranges)).rejects.toThrow('received status 200');
  });

  test('are no longer fetched when the run is canceled', async () => {
    const controller = new AbortController();
    fault = () => {
      setImmediate(() => controller.abort(new Error('canceled')));
      return true;
    };
    await expect(fetched(ranges, controller.signal)).rejects.toThrow('canceled');
  });
});

describe('The index of a video', () => {
  const box = (type: string, bytes: number, size = bytes) => {
    const header = Buffer.alloc(8);
    header.writeUInt32BE(size);
    header.write(type, 4, 'latin1');
    return Buffer.concat([header, randomBytes(bytes - 8)]);
  };
  const long = (type: string, bytes: number) => {
    const made = box(type, bytes, 1);
    made.writeBigUInt64BE(BigInt(bytes), 8);
    return made;
  };
  const first = 8 * 1024 * 1024;
  const media = 12_000_000;

  test.each([
    ['at its start', () => [box('ftyp', 32), box('moov', 5_000), box('mdat', media)], [[0, 5_032 + first]]],
    [
      'at its end, after media of 64-bit size',
      () => [box('ftyp', 32), long('mdat', media), box('moov', 5_000)],
      [
        [0, 32 + first],
        [32 + media, 5_032 + media],
      ],
    ],
    ['before media to the end of the file', () => [box('moov', 500), box('mdat', media, 0)], [[0, 500 + first]]],
    [
      'between pieces of media, with space that nobody reads',
      () => [box('mdat', media), box('moov', 500), box('free', 3_000), box('mdat', media)],
      [
        [0, first],
        [media, media + 516],
        [media + 3_500, media + 3_516],
      ],
    ],
  ] as [string, () => Buffer[], ByteRange[]][])('is fetched %s', async (_, make, expected) => {
    content = Buffer.concat(make());
    expect((await fetched('index')).equals(only(...expected))).toBe(true);
  });

  test.each([
    ['in fragments', () => [box('moov', 500), box('moof', 500), box('mdat', media), box('moof', 500)]],
    ['in too many boxes', () => Array.from({ length: 101 }, () => box('uuid', 16))],
    ['after something else', () => [box('junk', 100, 4)]],
  ])('is refused %s', async (_, make) => {
    content = Buffer.concat(make());
    await expect(fetched('index')).rejects.toThrow(EngineError);
  });
});
