import sharp from 'sharp';
import { camera, makerNote, sensorEntries } from './camera-parts.ts';
import { balance, inTwelveBits, inWords, type Mosaic, photograph, type Response, type Scene } from './sensor.ts';
import { type Entry, writeTiff } from './tiff-file.ts';

/** Writes an Olympus ORF: a TIFF with a mark of its own, 12 bits packed into words of four bytes. */
export function makeOrf(scene: Scene): Buffer {
  const response: Response = [7828, -1761, -348, -5788, 14_071, 1830, -2853, 4518, 6557];
  const data = inTwelveBits(photograph(scene, { response, white: 4095 })).swap32();
  const [red, , blue] = balance.map((value) => value * 256);
  const light: Entry[] = [
    [0x1017, 'short', [red ?? 0, 64]],
    [0x1018, 'short', [blue ?? 0, 64]],
    [0x102c, 'short', [12]],
  ];
  return writeTiff(
    [
      [
        ...sensorEntries({ ...scene, bits: 12, data }),
        ...camera('OLYMPUS IMAGING CORP.', 'E-300', 1),
        makerNote({ mark: 'OLYMP\0\x01\0', note: light, from: 'file' }),
      ],
    ],
    { mark: 0x4f52 },
  );
}

/** Writes a Panasonic RW2: a TIFF with a mark and tags of its own, ten pixels of 12 bits in sixteen bytes. */
export function makeRw2(scene: Scene): Buffer {
  const response: Response = [6929, -2355, -708, -4192, 12_534, 1828, -1097, 1989, 5195];
  const black = 128;
  const data = inPanasonicBlocks(photograph(scene, { response, white: 4095, black }));
  const light = balance.map((value, index): Entry => [0x24 + index, 'short', [value * 512]]);
  const preface = Buffer.from('88e774d8f8251d4d947a6e77822b5d6a', 'hex');
  return writeTiff(
    [
      [
        [0x01, 'undefined', { bytes: Buffer.from('0330') }],
        [0x02, 'short', [scene.width]],
        [0x03, 'short', [scene.height]],
        [0x04, 'short', [0]],
        [0x05, 'short', [0]],
        [0x06, 'short', [scene.height]],
        [0x07, 'short', [scene.width]],
        [0x09, 'short', [1]],
        [0x0a, 'short', [12]],
        [0x0b, 'short', [34_316]],
        ...[0x1c, 0x1d, 0x1e].map((tag): Entry => [tag, 'short', [black]]),
        ...light,
        [0x2d, 'short', [5]],
        ...camera('Panasonic', 'DC-GH5S', 1),
        [0x117, 'long', [data.length]],
        [0x118, 'long', { bytes: data }],
      ],
    ],
    { mark: 0x55, preface },
  );
}

/** Blocks of 16 kB start at their middle. */
function inPanasonicBlocks({ values }: Mosaic): Buffer {
  const [blockBytes, middle] = [0x4000, 0x2008];
  const groups = Math.ceil(values.length / 10);
  const straight = Buffer.alloc(Math.ceil((groups * 16) / blockBytes) * blockBytes);
  for (const [at, value] of values.entries()) {
    const place = Math.floor(at / 10) * 16 + Math.floor((at % 10) / 2) * 3;
    const pair = straight.readUIntLE(place, 3);
    straight.writeUIntLE(pair | (value << (at % 2 === 0 ? 0 : 12)), place, 3);
  }
  const blocks = Array.from({ length: straight.length / blockBytes }, (_, index) =>
    straight.subarray(index * blockBytes, (index + 1) * blockBytes),
  );
  return Buffer.concat(blocks.flatMap((block) => [block.subarray(middle), block.subarray(0, middle)]));
}

/** Writes a Fujifilm RAF: a header, a JPEG that names the camera, a table of sizes, and a TIFF with the sensor's 14 bits. */
export async function makeRaf(scene: Scene): Promise<Buffer> {
  const response: Response = [11_086, -4555, -839, -3512, 11_310, 2517, -815, 1341, 5940];
  const { width, height } = scene;
  const data = inWords(photograph(scene, { response, white: 16_383 }));
  const [red, green, blue] = balance.map((value) => value * 302);
  const sensor = writeTiff([
    [
      [
        0xf000,
        'long',
        {
          directories: [
            [
              [0xf001, 'long', [width]],
              [0xf002, 'long', [height]],
              [0xf003, 'long', [14]],
              [0xf007, 'long', { bytes: data }],
              [0xf008, 'long', [data.length]],
              [0xf00e, 'long', [green ?? 0, red ?? 0, blue ?? 0]],
            ],
          ],
        },
      ],
    ],
  ]);
  const preview = await namedJpeg(camera('FUJIFILM', 'X-A1', 1));
  const table = Buffer.alloc(4 + 3 * 8);
  table.writeUInt32BE(3, 0);
  for (const [index, [tag, one, other]] of [
    [0x100, height, width],
    [0x121, height, width],
    [0x130, 0x0008, 0],
  ].entries()) {
    const at = 4 + index * 8;
    table.writeUInt16BE(tag ?? 0, at);
    table.writeUInt16BE(4, at + 2);
    table.writeUInt16BE(one ?? 0, at + 4);
    table.writeUInt16BE(other ?? 0, at + 6);
  }
  const header = Buffer.alloc(148);
  header.write('FUJIFILMCCD-RAW 0201FF129502X-A1', 'latin1');
  header.write('0101', 60, 'latin1');
  let place = header.length;
  for (const [index, part] of [preview, table, sensor].entries()) {
    header.writeUInt32BE(place, 84 + index * 8);
    header.writeUInt32BE(part.length, 88 + index * 8);
    place += part.length;
  }
  return Buffer.concat([header, preview, table, sensor]);
}

async function namedJpeg(entries: Entry[]): Promise<Buffer> {
  const jpeg = await sharp({ create: { width: 16, height: 12, channels: 3, background: '#ff00ff' } })
    .jpeg()
    .toBuffer();
  const names = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), writeTiff([entries])]);
  const segment = Buffer.from([0xff, 0xe1, 0, 0]);
  segment.writeUInt16BE(names.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), segment, names, jpeg.subarray(2)]);
}
