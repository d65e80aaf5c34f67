import sharp from 'sharp';

/** How much of a picture a format keeps. */
export type Fidelity = 'colour' | 'grey' | 'bilevel';

async function pixels(image: Buffer, fidelity: Fidelity, size: { width: number; height: number }): Promise<Buffer> {
  // In steps of their own, because libvips orders the operations of one pipeline itself.
  const flat = await sharp(image).flatten({ background: '#ffffff' }).toColourspace('srgb').png().toBuffer();
  const sized = await sharp(flat)
    .resize({ ...size, fit: 'fill' })
    .removeAlpha()
    .png()
    .toBuffer();
  if (fidelity === 'colour') {
    const { data, info } = await sharp(sized).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
    if (info.channels === 3) return data;
    return Buffer.from([...data].flatMap((value) => [value, value, value]));
  }
  const grey = sharp(sized).greyscale();
  return (fidelity === 'bilevel' ? grey.blur(5) : grey).toColourspace('b-w').raw().toBuffer();
}

/** Compares two pictures; returns the mean difference of a channel (0 to 255), the correlation, and how varied the second is. */
export async function compare(
  actual: Buffer,
  expected: Buffer,
  fidelity: Fidelity,
): Promise<{ difference: number; correlation: number; spread: number }> {
  const { width, height } = await sharp(expected).metadata();
  const one = await pixels(actual, fidelity, { width, height });
  const other = await pixels(expected, fidelity, { width, height });
  if (one.length !== other.length) throw new Error(`${one.length} values came for ${other.length}.`);
  const mean = (data: Buffer) => data.reduce((sum, value) => sum + value, 0) / data.length;
  const [meanOne, meanOther] = [mean(one), mean(other)];
  let [difference, both, squareOne, squareOther] = [0, 0, 0, 0];
  // By index: an iterator takes ten times as long over the million values of a photograph.
  for (let at = 0; at < one.length; at++) {
    const value = one[at] ?? 0;
    const expectedValue = other[at] ?? 0;
    difference += Math.abs(value - expectedValue);
    both += (value - meanOne) * (expectedValue - meanOther);
    squareOne += (value - meanOne) ** 2;
    squareOther += (expectedValue - meanOther) ** 2;
  }
  return {
    difference: difference / one.length,
    correlation: both / Math.sqrt(squareOne * squareOther || 1),
    spread: Math.sqrt(squareOther / other.length),
  };
}

/** Returns what an icon shows of a picture: icons are square, with the picture in the middle. */
export async function squared(icon: Buffer, picture: Buffer): Promise<Buffer> {
  const { width } = await sharp(icon).metadata();
  const background = { r: 0, g: 0, b: 0, alpha: 0 };
  return sharp(picture).resize({ width, height: width, fit: 'contain', background }).png().toBuffer();
}
