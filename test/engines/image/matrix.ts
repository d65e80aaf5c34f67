import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { imageFormat } from '../../../functions/engines/image/formats.ts';
import type { EngineMatrix, Sample } from '../matrix.ts';
import { compare, type Fidelity, squared } from './compare.ts';
import { program } from './programs.ts';
import { readBack } from './readers.ts';
import { iconPicture, makeSample, original } from './samples.ts';

/** Inputs whose samples are less than the original picture. */
const inputFidelity: Record<string, Fidelity> = {
  msp: 'bilevel',
  pbm: 'bilevel',
  wbmp: 'bilevel',
  xbm: 'bilevel',
  fits: 'grey',
  pgm: 'grey',
  pgx: 'grey',
  vicar: 'grey',
};

/** Options of each operation, so that it has something to do. */
export const matrixOptions: Record<string, Record<string, string | number | boolean>> = {
  convert: {},
  compress: {},
  merge: {},
  crop: { aspect: '1:1' },
};

function fidelityOf(output: Sample, input: Sample): Fidelity {
  const { colours } = imageFormat(output.format).write ?? {};
  const from = inputFidelity[input.format] ?? 'colour';
  if (from === 'bilevel' || colours === 'bilevel') return 'bilevel';
  return from === 'grey' || colours === 'grey' ? 'grey' : 'colour';
}

/** Mean differences that lossy coding, palettes and dithering explain; a wrong picture is far beyond them. */
const tolerated: Record<Fidelity, number> = { colour: 12, grey: 12, bilevel: 22 };
const minCorrelation: Record<Fidelity, number> = { colour: 0.95, grey: 0.95, bilevel: 0.9 };

async function expectedPicture(input: Sample, operation: string): Promise<Buffer> {
  const whole = await wholePicture(input);
  if (operation !== 'crop') return whole;
  const { width, height } = await sharp(whole).metadata();
  const side = Math.min(width, height);
  const [left, top] = [Math.floor((width - side) / 2), Math.floor((height - side) / 2)];
  return sharp(whole).extract({ left, top, width: side, height: side }).png().toBuffer();
}

async function wholePicture(input: Sample): Promise<Buffer> {
  // That sample has its maker's own picture. The same picture is next to it in a common format.
  if (input.format === 'xcf') return readFile('/usr/libexec/installed-tests/SDL2_image/sample.png');
  if (input.format === 'icns') return iconPicture();
  if (inputFidelity[input.format] !== 'bilevel') return original();
  // Programs differ in how they scatter the dots, so the picture of dots itself is what is expected.
  return program('pamtopng', join(dirname(input.path), 'original.pbm'));
}

const drawings = new Set(['eps', 'epsi', 'ept', 'ps', 'pdf']);

async function verify(output: Sample, input: Sample, operation: string): Promise<void> {
  const fidelity = fidelityOf(output, input);
  const actual = await readBack(output.path, output.format);
  const whole = await expectedPicture(input, operation);
  const expected = output.format === 'ico' ? await squared(actual, whole) : whole;
  const [is, should] = [await sharp(actual).metadata(), await sharp(expected).metadata()];
  const largest = imageFormat(output.format).write?.maxSide ?? Number.POSITIVE_INFINITY;
  const free = drawings.has(input.format) || output.format === 'pdf';
  if (
    !free &&
    Math.max(should.width, should.height) <= largest &&
    (is.width !== should.width || is.height !== should.height)
  ) {
    throw new Error(`The output is ${is.width} x ${is.height} instead of ${should.width} x ${should.height}.`);
  }
  const { difference, correlation, spread } = await compare(actual, expected, fidelity);
  // Of a picture of nearly one brightness the dots alone would be compared.
  const isUnlike = spread > 20 && correlation < minCorrelation[fidelity];
  if (difference > tolerated[fidelity] || isUnlike) {
    throw new Error(
      `The output is another picture: it differs by ${difference.toFixed(1)} of 255, correlation ${correlation.toFixed(3)}.`,
    );
  }
}

export const matrix: EngineMatrix = {
  engine: 'image',
  sample: makeSample,
  verify,
  options: (operation) => matrixOptions[operation] ?? {},
};
