import sharp from 'sharp';
import { camera, levels, makerNote } from './camera-parts.ts';
import { type CrxPicture, encodeCrx } from './crx.ts';
import { encodeLosslessJpeg } from './lossless-jpeg.ts';
import { type Mosaic, photograph, type Response, type Scene } from './sensor.ts';
import { type Entry, writeTiff } from './tiff-file.ts';

/** Writes a Canon CR2: a TIFF whose first directory is a JPEG for viewing and whose last is a lossless JPEG of the sensor, cut in slices. */
export async function makeCr2(scene: Scene): Promise<Buffer> {
  const response: Response = [4716, 603, -830, -7798, 15_474, 2480, -1496, 1937, 6651];
  const slices = [96, scene.width - 96] as const;
  const mosaic = photograph(scene, { response, white: 0x3cf0 });
  const data = encodeLosslessJpeg(inSlices(mosaic, slices));
  const view = await sharp({ create: { width: 32, height: 24, channels: 3, background: '#ff00ff' } })
    .jpeg()
    .toBuffer();
  const file = writeTiff(
    [
      [
        [256, 'short', [32]],
        [257, 'short', [24]],
        [258, 'short', [8, 8, 8]],
        [259, 'short', [6]],
        ...camera('Canon', 'Canon EOS 5D Mark II', 1),
        [273, 'long', { bytes: view }],
        [279, 'long', [view.length]],
        makerNote({ mark: '', note: [colourData({ length: 1250, version: 6, place: 0x3f })], from: 'file' }),
      ],
      [
        [259, 'short', [6]],
        [273, 'long', { bytes: data }],
        [279, 'long', [data.length]],
        [50_752, 'short', [slices.length - 1, ...slices]],
      ],
    ],
    { preface: Buffer.from('CR\x02\0\0\0\0\0', 'latin1') },
  );
  file.writeUInt32LE(lastDirectory(file), 12);
  return file;
}

/** Writes a Canon CR3: the boxes of a movie, whose only track is one picture of the sensor. */
export function makeCr3(scene: Scene): Buffer {
  const response: Response = [8293, -1789, -1094, -5025, 12_925, 2327, -1199, 2769, 6108];
  const { width, height } = scene;
  const picture = encodeCrx(photograph(scene, { response, white: 16_383 }));
  const names: Entry[] = [[256, 'short', [width]], [257, 'short', [height]], ...camera('Canon', 'Canon EOS R', 1)];
  const start = (place: number) =>
    Buffer.concat([
      box('ftyp', Buffer.from('crx \0\0\0\x01crx isom', 'latin1')),
      box(
        'moov',
        box(
          'uuid',
          Buffer.from('85c0b687820f11e08111f4ce462b6a48', 'hex'),
          box('CNCV', Buffer.from('CanonCR3_001/00.09.00/00.00.00')),
          box('CMT1', writeTiff([names])),
          box('CMT3', writeTiff([[colourData({ length: 1824, version: 17, place: 0x47 })]])),
        ),
        box(
          'trak',
          box(
            'mdia',
            box('hdlr', numbers(0, 0), Buffer.from('vide'), Buffer.alloc(13)),
            box(
              'minf',
              box(
                'stbl',
                box('stsd', numbers(0, 1), sampleEntry(scene, picture)),
                box('stsc', numbers(0, 1, 1, 1, 1)),
                box('stsz', numbers(0, picture.data.length, 1)),
                box('co64', numbers(0, 1, 0, place)),
              ),
            ),
          ),
        ),
      ),
    ]);
  return Buffer.concat([start(start(0).length + 8), box('mdat', picture.data)]);
}

function sampleEntry({ width, height }: Scene, { headerBytes, tileWidth }: CrxPicture): Buffer {
  const entry = Buffer.alloc(82);
  entry.writeUInt16BE(1, 6);
  entry.writeUInt16BE(width, 24);
  entry.writeUInt16BE(height, 26);
  const coding = numbers(0xff00_0030, 0x0100_0000, width, height, tileWidth, height, 0x0e40_0000, headerBytes);
  return box('CRAW', entry, box('CMP1', coding, numbers(0, ...Array<number>(4).fill(0x0101_0000))));
}

function box(name: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([numbers(content.length + 8), Buffer.from(name, 'latin1'), content]);
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

/** Canon's table of colours; all but the light that the picture was taken in is left empty. */
function colourData({ length, version, place }: { length: number; version: number; place: number }): Entry {
  const values = Array<number>(length).fill(0);
  values[0] = version;
  values.splice(place, levels.length, ...levels);
  return [0x4001, 'short', values];
}

/** Lays the columns of each slice one below the other before those of the next. */
function inSlices({ width, height, values }: Mosaic, slices: readonly number[]): Mosaic {
  let left = 0;
  const parts = slices.flatMap((columns) => {
    const rows = Array.from({ length: height }, (_, y) =>
      values.subarray(y * width + left, y * width + left + columns),
    );
    left += columns;
    return rows.flatMap((row) => [...row]);
  });
  return { width, height, values: Uint16Array.from(parts) };
}

function lastDirectory(file: Buffer): number {
  let at = file.readUInt32LE(4);
  for (let next = at; next > 0; next = file.readUInt32LE(at + 2 + file.readUInt16LE(at) * 12)) at = next;
  return at;
}
