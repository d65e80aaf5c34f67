/** A picture of 8 bits a channel, as screens show it. */
export interface Scene {
  width: number;
  height: number;
  pixels: Buffer;
}

/** How a camera sees: from the colours of the eye (XYZ) to its own, in ten-thousandths, as makers and Adobe publish it. */
export type Response = readonly [number, number, number, number, number, number, number, number, number];

/** What the sensor of a camera recorded: one number a pixel, red, green and blue in turns. */
export interface Mosaic {
  width: number;
  height: number;
  values: Uint16Array;
}

const xyzOfScreen = [0.412453, 0.35758, 0.180423, 0.212671, 0.71516, 0.072169, 0.019334, 0.119193, 0.950227] as const;

/** Reads a PPM of 8 bits. */
export function readScene(ppm: Buffer): Scene {
  const header = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.toString('latin1', 0, 40));
  if (!header) throw new Error('The source is not a PPM of 8 bits.');
  return { width: Number(header[1]), height: Number(header[2]), pixels: ppm.subarray(header[0].length) };
}

/** By how much the light lacks red, green and blue, as the camera measured it and wrote it down: never daylight, so that a reader that guesses is found out. */
export const balance = [2, 1, 1.5] as const;

/** Returns what a camera records of each colour that a screen can show alone; white is 1 before the light is accounted for. */
function seen(response: Response): number[][] {
  return [0, 1, 2].map((channel) => {
    const row = [0, 1, 2].map((primary) =>
      [0, 1, 2].reduce(
        (sum, axis) => sum + (response[channel * 3 + axis] ?? 0) * (xyzOfScreen[axis * 3 + primary] ?? 0),
        0,
      ),
    );
    const white = row.reduce((sum, value) => sum + value, 0);
    return row.map((value) => value / white);
  });
}

/** Photographs a scene: what a sensor behind red, green and blue filters (RGGB) gives. */
export function photograph(
  { width, height, pixels }: Scene,
  { response, white, black = 0 }: { response: Response; white: number; black?: number },
): Mosaic {
  const rows = seen(response);
  const values = new Uint16Array(width * height);
  for (let at = 0; at < values.length; at++) {
    const channel = ((at % width) % 2) + (Math.floor(at / width) % 2);
    const light = (rows[channel] ?? []).reduce(
      (sum, weight, primary) => sum + weight * linear(pixels[at * 3 + primary] ?? 0),
      0,
    );
    const share = Math.min(1, Math.max(0, light)) / (balance[channel] ?? 1);
    values[at] = black + Math.round(share * (white - black));
  }
  return { width, height, values };
}

function linear(value: number): number {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** Lays the values out in two bytes each. */
export function inWords({ values }: Mosaic, order: 'little' | 'big' = 'little', shift = 0): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [at, value] of values.entries()) {
    if (order === 'little') bytes.writeUInt16LE(value << shift, at * 2);
    else bytes.writeUInt16BE(value << shift, at * 2);
  }
  return bytes;
}

/** Packs values of 12 bits, two in three bytes, high bits first. */
export function inTwelveBits({ values }: Mosaic): Buffer {
  const bytes = Buffer.alloc((values.length * 3) / 2);
  for (let at = 0; at < values.length; at += 2) {
    bytes.writeUIntBE(((values[at] ?? 0) << 12) | (values[at + 1] ?? 0), (at / 2) * 3, 3);
  }
  return bytes;
}
