import { balance } from './sensor.ts';
import type { Entry, Value } from './tiff-file.ts';

/** Photometric interpretation of a mosaic of colour filters. */
const mosaicked = 32_803;
const redGreenGreenBlue: Entry[] = [
  [33_421, 'short', [2, 2]],
  [33_422, 'byte', [0, 1, 1, 2]],
];

interface Sensor {
  width: number;
  height: number;
  bits: number;
  data: Buffer;
  compression?: number;
}

/** Describes what the sensor recorded, and holds it. */
export function sensorEntries({ width, height, bits, data, compression = 1 }: Sensor): Entry[] {
  return [
    [254, 'long', [0]],
    [256, 'long', [width]],
    [257, 'long', [height]],
    [258, 'short', [bits]],
    [259, 'short', [compression]],
    [262, 'short', [mosaicked]],
    [273, 'long', { bytes: data }],
    [277, 'short', [1]],
    [278, 'long', [height]],
    [279, 'long', [data.length]],
    [284, 'short', [1]],
    ...redGreenGreenBlue,
  ];
}

/** Describes a picture of red, green and blue as screens show it, and holds it. */
export function pictureEntries({ width, height }: { width: number; height: number }, pixels: Buffer): Entry[] {
  return [
    [256, 'long', [width]],
    [257, 'long', [height]],
    [258, 'short', [8, 8, 8]],
    [259, 'short', [1]],
    [262, 'short', [2]],
    [273, 'long', { bytes: pixels }],
    [277, 'short', [3]],
    [278, 'long', [height]],
    [279, 'long', [pixels.length]],
  ];
}

/** The small picture that comes first in most raw files: a reader that shows it instead of the sensor's is found out by its colour. */
export function previewEntries(): Entry[] {
  const size = { width: 16, height: 12 };
  const pixels = Buffer.alloc(size.width * size.height * 3, Buffer.from([255, 0, 255]));
  return [[254, 'long', [1]], ...pictureEntries(size, pixels)];
}

/** Names the camera, and says how it was held. */
export function camera(make: string, model: string, orientation: number): Entry[] {
  return [
    [271, 'ascii', make],
    [272, 'ascii', model],
    [274, 'short', [orientation]],
    [306, 'ascii', '2020:01:01 12:00:00'],
  ];
}

/** White balance of the sensor, in the order red, green, green, blue. */
export const levels = [balance[0], balance[1], balance[1], balance[2]].map((value) => value * 1024);

/** Holds a maker note, in which cameras keep data without EXIF tags. */
export function makerNote(note: Extract<Value, { note: Entry[] }> | { bytes: Buffer }): Entry {
  return [34_665, 'long', { directories: [[[37_500, 'undefined', note]]] }];
}
