import sharp from 'sharp';
import { type Sample, samples } from './samples.ts';

/** A step of a case: an operation and its output format. */
interface Step {
  operation: 'convert' | 'compress' | 'merge';
  to: string;
}

/** A file that is sent through the service and back. */
export interface Case {
  /** The family of files, or the operation. */
  name: string;
  /** The engine's name in `/health`. */
  engine: string;
  from: string;
  files: { name: string; content(): Promise<Buffer> }[];
  /** In sequence; the first takes the files. */
  steps: [Step, ...Step[]];
  /** Returns what is wrong with the output, or undefined. */
  check(output: Buffer, input: Buffer): Promise<string | undefined> | string | undefined;
}

/** One file of each family, and one for each other operation of all deployments. */
export const cases: Case[] = [
  conversion('image', 'image', 'gradient.png', ['webp'], (output) =>
    isPicture(output, 'webp', { width: 320, height: 180 }),
  ),
  conversion('audio', 'media', 'tone.wav', ['mp3'], (output) => begins(output, 'ID3') ?? hasAtLeast(output, 5_000)),
  // The second step reads a video from the first.
  conversion(
    'video',
    'media',
    'frames.gif',
    ['mp4', 'webm'],
    (output) => begins(output, '\x1aE\xdf\xa3') ?? hasAtLeast(output, 1_000),
  ),
  conversion('document', 'document', 'letter.md', ['docx', 'pdf'], isPdf),
  conversion('archive', 'archive', 'files.zip', ['7z'], (output) => begins(output, '7z\xbc\xaf\x27\x1c')),
  conversion(
    'e-book',
    'ebook',
    'book.fb2',
    ['epub'],
    (output) => begins(output, 'PK\x03\x04') ?? contains(output, 'application/epub+zip'),
  ),
  conversion('web page', 'webpage', 'scripts.html', ['png'], (output) => isPicture(output, 'png', {})),
  {
    name: 'compress',
    engine: 'image',
    from: 'jpg',
    files: [{ name: 'noise.jpg', content: noise }],
    steps: [{ operation: 'compress', to: 'jpg' }],
    check: async (output, input) =>
      (await isPicture(output, 'jpeg', { width: 320, height: 180 })) ??
      (output.length < input.length ? undefined : `it has ${output.length} bytes, not fewer than ${input.length}`),
  },
  {
    name: 'merge',
    engine: 'image',
    from: 'png',
    files: [sampleOf('gradient.png'), sampleOf('gradient.png')],
    steps: [{ operation: 'merge', to: 'pdf' }],
    check: isPdf,
  },
];

/** Returns a case that converts a sample to formats in sequence. */
function conversion(
  name: string,
  engine: string,
  file: string,
  [first, ...others]: [string, ...string[]],
  check: Case['check'],
): Case {
  const sample = sampleOf(file);
  const stepTo = (to: string): Step => ({ operation: 'convert', to });
  return { name, engine, from: sample.format, files: [sample], steps: [stepTo(first), ...others.map(stepTo)], check };
}

/** Returns the formats of a case in order: png → webp. */
export function pathOf({ from, steps }: Case): string {
  return [from, ...steps.map(({ to }) => to)].join(' → ');
}

function sampleOf(name: string): Sample {
  const sample = samples.find((each) => each.name === name);
  if (!sample) throw new Error(`There is no sample ${name}.`);
  return sample;
}

/** Returns a picture with more detail than compression would keep. */
function noise(): Promise<Buffer> {
  const gaussian = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const create = { width: 320, height: 180, channels: 3, background: 'gray', noise: gaussian } as const;
  return sharp({ create }).jpeg({ quality: 98 }).toBuffer();
}

function begins(output: Buffer, signature: string): string | undefined {
  const start = output.subarray(0, signature.length).toString('latin1');
  return start === signature ? undefined : `it begins with ${JSON.stringify(start)}, not ${JSON.stringify(signature)}`;
}

function contains(output: Buffer, text: string): string | undefined {
  return output.includes(text) ? undefined : `it does not contain ${text}`;
}

function hasAtLeast(output: Buffer, bytes: number): string | undefined {
  return output.length >= bytes ? undefined : `it has ${output.length} bytes, fewer than ${bytes}`;
}

function isPdf(output: Buffer): string | undefined {
  return begins(output, '%PDF-') ?? contains(output.subarray(-1024), '%%EOF');
}

async function isPicture(
  output: Buffer,
  format: string,
  size: { width?: number; height?: number },
): Promise<string | undefined> {
  try {
    const { info } = await sharp(output).toBuffer({ resolveWithObject: true });
    const { width = info.width, height = info.height } = size;
    if (info.format === format && info.width === width && info.height === height) return undefined;
    return `it is a ${info.format} of ${info.width} × ${info.height}, not a ${format} of ${width} × ${height}`;
  } catch (error) {
    return `it is no picture: ${error instanceof Error ? error.message : String(error)}`;
  }
}
