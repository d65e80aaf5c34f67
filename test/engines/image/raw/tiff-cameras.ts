import { camera, levels, makerNote, pictureEntries, previewEntries, sensorEntries } from './camera-parts.ts';
import { balance, inTwelveBits, inWords, photograph, type Response, type Scene } from './sensor.ts';
import { type Entry, writeTiff } from './tiff-file.ts';

/** The camera sees exactly what a screen shows. */
const asScreens: Response = [32_406, -15_372, -4_986, -9_689, 18_758, 415, 557, -2_040, 10_570];

/** Writes an Adobe DNG. */
export function makeDng(scene: Scene, orientation = 1): Buffer {
  const data = inWords(photograph(scene, { response: asScreens, white: 16_383 }));
  return writeTiff([
    [
      ...sensorEntries({ ...scene, bits: 16, data }),
      ...camera('Lathe', 'Test camera', orientation),
      [50_706, 'byte', [1, 4, 0, 0]],
      [50_707, 'byte', [1, 1, 0, 0]],
      [50_708, 'ascii', 'Lathe Test camera'],
      [50_714, 'short', [0]],
      [50_717, 'long', [16_383]],
      [50_721, 'srational', asScreens.flatMap((value) => [value, 10_000])],
      [50_728, 'rational', balance.flatMap((value) => [2, value * 2])],
      [50_778, 'short', [21]],
    ],
  ]);
}

/** Writes a Nikon NEF of 14 bits, uncompressed, in a directory below the preview's. */
export function makeNef(scene: Scene, orientation = 1): Buffer {
  const response: Response = [9200, -3522, -992, -5755, 13_803, 2117, -753, 1486, 6338];
  return nikonFile(scene, { model: 'NIKON D5', response, bits: 14, orientation });
}

/** Writes an NRW, which is what a NEF is called by Nikon's compact cameras. */
export function makeNrw(scene: Scene): Buffer {
  const response: Response = [10_601, -3487, -1127, -2931, 11_443, 1676, -587, 1740, 5278];
  return nikonFile(scene, { model: 'COOLPIX A1000', response, bits: 12, orientation: 1 });
}

function nikonFile(
  scene: Scene,
  { model, response, bits, orientation }: { model: string; response: Response; bits: number; orientation: number },
): Buffer {
  const data = inWords(photograph(scene, { response, white: 2 ** bits - 1 }));
  const [red, green, , blue] = levels.map((value) => [value, 1024]);
  const light: Entry = [12, 'rational', [red, blue, green, green].flatMap((value) => value ?? [])];
  return writeTiff([
    [
      ...previewEntries(),
      ...camera('NIKON CORPORATION', model, orientation),
      [330, 'long', { directories: [sensorEntries({ ...scene, bits, data })] }],
      makerNote({ bytes: Buffer.concat([Buffer.from('Nikon\0\x02\x10\0\0', 'latin1'), writeTiff([[light]])]) }),
    ],
  ]);
}

/** Writes a Sony ARW of 14 bits, uncompressed, in a directory below the preview's. */
export function makeArw(scene: Scene, orientation = 1): Buffer {
  const response: Response = [5271, -712, -347, -6153, 13_653, 2763, -1601, 2366, 7242];
  const data = inWords(photograph(scene, { response, white: 16_383 }));
  const sensor: Entry[] = [...sensorEntries({ ...scene, bits: 14, data }), [29_459, 'short', levels]];
  return writeTiff([
    [...previewEntries(), ...camera('SONY', 'ILCE-7', orientation), [330, 'long', { directories: [sensor] }]],
  ]);
}

/** Writes a Pentax PEF of 12 packed bits, most significant byte first; the sensor's picture comes first and the preview after it. */
export function makePef(scene: Scene, orientation = 1): Buffer {
  const response: Response = [9679, -2965, -811, -8622, 16_514, 2182, -975, 883, 9793];
  const data = inTwelveBits(photograph(scene, { response, white: 4095 }));
  const sensor = sensorEntries({ ...scene, bits: 12, data, compression: 32_773 });
  const main: Entry[] = [
    ...sensor,
    ...camera('PENTAX Corporation', 'PENTAX K10D', orientation),
    makerNote({ mark: 'AOC\0MM', note: [[513, 'short', levels]], from: 'file' }),
  ];
  return writeTiff([main, previewEntries()], { order: 'big' });
}

/** Writes a Samsung SRW of 12 packed bits in a directory below the preview's. */
export function makeSrw(scene: Scene, orientation = 1): Buffer {
  const response: Response = [10_332, -3234, -1168, -6111, 14_639, 1520, -1352, 2647, 8331];
  const data = inTwelveBits(photograph(scene, { response, white: 4095 }));
  const sensor = sensorEntries({ ...scene, bits: 12, data, compression: 32_770 });
  return writeTiff([
    [
      ...previewEntries(),
      ...camera('SAMSUNG', 'NX10', orientation),
      [330, 'long', { directories: [sensor] }],
      makerNote({ mark: '', note: [[40_993, 'long', levels]], from: 'note' }),
    ],
  ]);
}

/** Writes a plain TIFF as programs make them of raw files: the camera's name is still there, its mosaic is not. The number of tags is one that is taken for a NEF's elsewhere. */
export function makeTiff(scene: Scene, make: string): Buffer {
  const entries: Entry[] = [
    [254, 'long', [0]],
    ...pictureEntries(scene, Buffer.from(scene.pixels)),
    [284, 'short', [1]],
    ...camera(make, 'Model', 1),
  ];
  const unknown = Array.from({ length: 28 - entries.length }, (_, index): Entry => [50_341 + index, 'short', [0]]);
  return writeTiff([[...entries, ...unknown]]);
}
