import sharp from 'sharp';

export type Colour = { r: number; g: number; b: number };

export const red: Colour = { r: 220, g: 30, b: 40 };
export const blue: Colour = { r: 20, g: 60, b: 200 };

/** Draws an image with differently coloured halves, which distinguishes a conversion from a blank. */
export function twoHalves(width: number, height: number, format: 'png' | 'jpg' | 'webp' | 'avif' | 'gif' = 'png') {
  const half = Math.floor(width / 2);
  const image = sharp({ create: { width, height, channels: 3, background: red } })
    .composite([
      { input: { create: { width: width - half, height, channels: 3, background: blue } }, left: half, top: 0 },
    ])
    .withMetadata({ exif: { IFD0: { Copyright: 'Lathe test' } } });
  return image.toFormat(format === 'jpg' ? 'jpeg' : format).toBuffer();
}

/** Draws a picture of noise over a gradient, about as hard to compress as a photograph: a megabyte for 600 pixels of width. */
export async function photograph(width: number, height: number, seed = 1): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 3);
  let state = seed >>> 0 || 1;
  for (let index = 0; index < pixels.length; index++) {
    // A linear congruential generator: the same picture for the same seed, on every machine.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const column = Math.floor(index / 3) % width;
    const row = Math.floor(index / 3 / width);
    const gradient = ((column / width) * (index % 3 === 0 ? 200 : 90) + (row / height) * 55) | 0;
    pixels[index] = Math.min(255, gradient + (state >>> 24) / 4);
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** Returns the colour of the pixel at a position, given as fractions of the image's size. */
export async function colourAt(image: Buffer, across: number, down: number): Promise<Colour> {
  const { data, info } = await sharp(image)
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const offset =
    (Math.floor(down * (info.height - 1)) * info.width + Math.floor(across * (info.width - 1))) * info.channels;
  return { r: data[offset] ?? 0, g: data[offset + 1] ?? 0, b: data[offset + 2] ?? 0 };
}

/** Returns the distance of two colours: 0 for the same, 255 for opposite ends of a channel. */
export function distance(left: Colour, right: Colour): number {
  return Math.max(Math.abs(left.r - right.r), Math.abs(left.g - right.g), Math.abs(left.b - right.b));
}
