import sharp from 'sharp';
import { camera, levels, makerNote } from './camera-parts.ts';
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
        makerNote({ mark: '', note: [colourData(1250, 6)], from: 'file' }),
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

/** Canon's table of colours has the light at this place; the rest is other lights, which nobody asks for. */
export function colourData(length: number, version: number): Entry {
  const values = Array<number>(length).fill(0);
  values[0] = version;
  values.splice(0x3f, levels.length, ...levels);
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
