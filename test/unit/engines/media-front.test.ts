import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mediaFormat } from '../../../functions/engines/media/formats.ts';
import { frontOf } from '../../../functions/engines/media/split/front.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function box(type: string, ...content: Buffer[]): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + Buffer.concat(content).length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, ...content]);
}

/** An index with the offsets of one track, in 32 or 64 bits. */
function indexOf(type: 'stco' | 'co64', offsets: number[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(offsets.length, 4);
  const entries = offsets.map((offset) => {
    const entry = Buffer.alloc(type === 'stco' ? 4 : 8);
    if (type === 'stco') entry.writeUInt32BE(offset);
    else entry.writeBigUInt64BE(BigInt(offset));
    return entry;
  });
  const table = box('stbl', box('stts', Buffer.alloc(8)), box(type, head, ...entries));
  return box('moov', box('mvhd', Buffer.alloc(100)), box('trak', box('mdia', box('minf', table))));
}

const start = [box('ftyp', Buffer.from('isom')), box('free'), box('mdat', Buffer.alloc(50, 7))];

describe('The front of an MP4', () => {
  it.each([
    ['offsets of 32 bits', 'stco', [20, 40], 'stco'],
    ['offsets of 64 bits', 'co64', [20, 2 ** 33], 'co64'],
    ['offsets that need 64 bits once they are moved', 'stco', [20, 2 ** 32 - 100], 'co64'],
  ] as const)('has the index before the media, with %s', async (_, before, offsets, after) => {
    const path = join(folder, 'out.mp4');
    const index = indexOf(before, [...offsets]);
    await writeFile(path, [...start, index]);

    const made = await frontOf(path, mediaFormat('mp4'), true);

    // The size does not depend on the values of offsets.
    const { length } = indexOf(after, [...offsets]);
    const moved = indexOf(
      after,
      offsets.map((offset) => offset + length),
    );
    const [type, ...media] = start;
    const end = Buffer.concat(start).length;
    expect(made).toEqual({ announced: { front: `${path}.front`, end }, size: end + length });
    expect(await readFile(`${path}.front`)).toEqual(Buffer.concat([type ?? Buffer.alloc(0), moved, ...media]));
  });

  it('stays as it is if the index may come last', async () => {
    const path = join(folder, 'last.mp4');
    await writeFile(path, [...start, indexOf('stco', [20])]);
    const size = (await readFile(path)).length;

    expect(await frontOf(path, mediaFormat('mp4'), false)).toEqual({ announced: { end: size }, size });
  });

  it('is not written for a file that ends in another way', async () => {
    const path = join(folder, 'broken.mp4');
    await writeFile(path, start);

    await expect(frontOf(path, mediaFormat('mp4'), true)).rejects.toThrow('The file does not end with its index.');
  });
});

describe('The front of Matroska', () => {
  const segment = Buffer.from('1853806701ffffffffffffff', 'hex');
  const cluster = Buffer.from('1f43b67581e7', 'hex');
  const filler = (bytes: number) => {
    const size = Buffer.alloc(8);
    size.writeUInt32BE(bytes, 4);
    size[0] = 1;
    return Buffer.concat([Buffer.from('ec', 'hex'), size, Buffer.alloc(bytes)]);
  };

  it.each([
    ['is complete before its first cluster', 1_000, true],
    ['is unknown if the header is longer', 9 * 1024 ** 2, false],
  ])('%s', async (_, bytes, isKnown) => {
    const path = join(folder, 'out.mkv');
    const content = Buffer.concat([segment, filler(bytes), cluster]);
    await writeFile(path, content);

    const whole = { announced: { end: content.length }, size: content.length };
    expect(await frontOf(path, mediaFormat('mkv'), true)).toEqual(isKnown ? whole : undefined);
  });
});
