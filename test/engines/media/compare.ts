import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { ffmpeg, toneHertz } from './samples.ts';

const execute = promisify(execFile);
const rate = 16_000;

export interface Facts {
  format: string;
  seconds: number;
  video: { codec: string; width: number; height: number; aspect: number; framesPerSecond: number } | undefined;
  audio: { codec: string; rate: number; channels: number; bitRate: number } | undefined;
  subtitles: string[];
}

/** Reads what ffprobe says of a file, found by its name and content as a player would. */
export async function facts(path: string): Promise<Facts> {
  const { stdout } = await execute('ffprobe', [
    '-v',
    'error',
    '-print_format',
    'json',
    '-show_format',
    '-show_streams',
    path,
  ]);
  const { format, streams }: { format: Record<string, string>; streams: Record<string, string>[] } = JSON.parse(stdout);
  const video = streams.find(({ codec_type }) => codec_type === 'video');
  const audio = streams.find(({ codec_type }) => codec_type === 'audio');
  return {
    format: format.format_name ?? '',
    seconds: Number(format.duration ?? video?.duration ?? audio?.duration ?? Number.NaN),
    video: video && {
      codec: video.codec_name ?? '',
      width: Number(video.width),
      height: Number(video.height),
      aspect: (Number(video.width) / Number(video.height)) * (fraction(video.sample_aspect_ratio) || 1),
      framesPerSecond: fraction(video.avg_frame_rate),
    },
    audio: audio && {
      codec: audio.codec_name ?? '',
      rate: Number(audio.sample_rate),
      channels: Number(audio.channels),
      bitRate: Number(audio.bit_rate ?? Number.NaN),
    },
    subtitles: streams.filter(({ codec_type }) => codec_type === 'subtitle').map(({ codec_name }) => codec_name ?? ''),
  };
}

function fraction(text = ''): number {
  const [above = 0, below = 1] = text.split(/[/:]/).map(Number);
  return above / below;
}

// Bars that a format of one shape adds are not part of the picture, so both are compared in the same frame.
const shape = 'scale=160:120,setsar=1,fps=25,format=yuv444p,setpts=N/25/TB';
const asSamples = ['-ac', '1', '-ar', String(rate), '-f', 's16le'];

/** Measures the structural similarity of two videos, from 0 to 1, in colour and over all frames. */
export async function videoSimilarity(
  one: string,
  other: string,
  /** What to take of the other before it is compared, as a filter of ffmpeg. */
  part = 'null',
  /** What else to do with the two, as further outputs of ffmpeg. */
  further: string[] = [],
): Promise<number> {
  const graph = `[0:v]${shape}[a];[1:v]${part},${shape}[b];[a][b]ssim=shortest=1`;
  const said = await ffmpeg(
    ...['-i', one, '-i', other, '-filter_complex', graph],
    ...['-an', '-f', 'null', '-'],
    ...further,
  );
  const found = /SSIM .*All:([\d.]+|nan)/.exec(said);
  return Number(found?.[1] ?? Number.NaN);
}

/**
 * Measures the similarity of two videos as above and hears both, in one process: ffmpeg takes longer to start than to
 * read a sample. The decoded audio of both is written next to the first.
 */
export async function compareWithSound(
  one: string,
  other: string,
  part?: string,
): Promise<{ similarity: number; sounds: [one: Sound, other: Sound] }> {
  const paths = [`${one}.sound-0`, `${one}.sound-1`] as const;
  const further = paths.flatMap((path, index) => ['-map', `${index}:a:0`, ...asSamples, path]);
  const similarity = await videoSimilarity(one, other, part, further);
  return { similarity, sounds: [soundOf(await readFile(paths[0])), soundOf(await readFile(paths[1]))] };
}

/** Measures how alike two pictures are, from 0 to 1, by their difference at a small size. */
export async function pictureSimilarity(one: string | Buffer, other: string | Buffer): Promise<number> {
  const small = (path: string | Buffer) =>
    sharp(path)
      .flatten({ background: '#ffffff' })
      .removeAlpha()
      .toColourspace('srgb')
      .resize(80, 60, { fit: 'fill' })
      .raw()
      .toBuffer();
  const [a, b] = await Promise.all([small(one), small(other)]);
  const difference = a.reduce((sum, value, at) => sum + Math.abs(value - (b[at] ?? 0)), 0) / a.length;
  return 1 - difference / 255;
}

export interface Sound {
  seconds: number;
  /** Share of the energy that is in the tone. */
  tone: number;
  /** Root mean square, of a full scale of 1. */
  level: number;
}

/** sox reads these by itself; ffmpeg wrote them. */
const soxReads = ['wav', 'aiff', 'aifc', 'au', 'w64', 'voc', 'flac', 'wv', 'sox', 'sf', 'gsm', 'caf'];

/** Hears a file: its length, how loud it is, and how much of it is the tone. */
export async function listen(path: string, format = '', hertz = toneHertz): Promise<Sound> {
  // Apple Lossless that was copied into a CAF is beyond sox.
  const bySox = soxReads.includes(format) && (format !== 'caf' || (await facts(path)).audio?.codec !== 'alac');
  const { stdout } = bySox
    ? await execute('sox', [path, '-t', 's16', '-r', String(rate), '-c', '1', '-'], {
        encoding: 'buffer',
        maxBuffer: 2 ** 28,
      })
    : await execute('ffmpeg', ['-v', 'error', '-nostdin', '-i', path, '-vn', '-map', '0:a:0', ...asSamples, '-'], {
        encoding: 'buffer',
        maxBuffer: 2 ** 28,
      });
  return soundOf(stdout, hertz);
}

function soundOf(content: Buffer, hertz = toneHertz): Sound {
  const samples = new Int16Array(content.buffer.slice(content.byteOffset, content.byteOffset + (content.length & ~1)));
  return { seconds: samples.length / rate, ...heard(samples, hertz) };
}

/** Goertzel's filter: the energy at one frequency without a whole spectrum. */
function heard(samples: Int16Array, hertz: number): { tone: number; level: number } {
  let [one, two, energy] = [0, 0, 0];
  const turn = 2 * Math.cos((2 * Math.PI * hertz) / rate);
  for (const sample of samples) {
    const value = sample / 32_768;
    energy += value * value;
    [two, one] = [one, value + turn * one - two];
  }
  const power = one * one + two * two - turn * one * two;
  return {
    tone: energy === 0 ? 0 : (2 * power) / (energy * samples.length),
    level: Math.sqrt(energy / Math.max(1, samples.length)),
  };
}
