import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { mediaFormat } from '../../../functions/engines/media/formats.ts';
import type { EngineMatrix, Sample } from '../matrix.ts';
import {
  compareWithSound,
  type Facts,
  facts,
  listen,
  pictureSimilarity,
  type Sound,
  videoSimilarity,
} from './compare.ts';
import { makeSample, pictureSize } from './samples.ts';
import { unpack } from './unpack.ts';

const execute = promisify(execFile);

/** Codecs of telephones and of the nineties keep less of a test pattern than others. */
const minSimilarity = { convert: 0.8, trim: 0.8, crop: 0.8, compress: 0.45 };
const soundSlack = 0.35;
const trimmed = { start: 0.2, end: 0.8 };
const cropped = { x: 16, y: 8, width: 96, height: 64 };

/** What of a sample must be in the output, as a filter of ffmpeg. */
const parts: Record<string, string> = {
  trim: `trim=start=${trimmed.start}:end=${trimmed.end},setpts=PTS-STARTPTS`,
  crop: `crop=${cropped.width}:${cropped.height}:${cropped.x}:${cropped.y}`,
};

export const matrix: EngineMatrix = {
  engine: 'media',
  sample: makeSample,
  options(operation) {
    if (operation === 'trim') return { trim_start: String(trimmed.start), trim_end: String(trimmed.end) };
    return operation === 'crop' ? cropped : {};
  },
  async verify(output, input, operation) {
    const { kind } = mediaFormat(output.format);
    if (kind === 'audio') await verifySound(output, input, operation);
    else if (kind === 'video') await verifyVideo(output, input, operation);
    else if (kind === 'stream') await verifyStream(output, input);
    else await verifyPicture(output, input);
  },
};

const known = new Map<string, Promise<unknown>>();

/** Looks at a sample once for all the formats it is converted to. */
function once<T>(look: (path: string) => Promise<T>, path: string): Promise<T>;
function once(look: (path: string) => Promise<unknown>, path: string): Promise<unknown> {
  const key = `${look.name} ${path}`;
  const found = known.get(key) ?? look(path);
  known.set(key, found);
  return found;
}

/** ffprobe finds no size in an animated WebP, so the known size is used. */
async function sampleFacts(path: string): Promise<Facts> {
  const found = await facts(path);
  if (!path.endsWith('.webp')) return found;
  return { ...found, seconds: 1, video: { codec: 'webp', ...pictureSize, aspect: 4 / 3, framesPerSecond: 25 } };
}

/** Television has one aspect ratio, so bars fill the rest of the frame. */
const inFrame = 'scale=iw*sar:ih,setsar=1,pad=max(iw\\,ih*4/3):max(ih\\,iw*3/4):(ow-iw)/2:(oh-ih)/2';

/** What ffprobe must find in a file of each format, by itself. */
function containerOf(format: string): string {
  const { demuxer = '' } = mediaFormat(format);
  return demuxer;
}

async function verifyVideo(output: Sample, input: Sample, operation: string): Promise<void> {
  const [made, given] = [await facts(output.path), await once(sampleFacts, input.path)];
  // A stream of JPEG pictures starts as one picture does.
  const names = output.format === 'mjpeg' ? ['jpeg_pipe', 'mjpeg'] : [containerOf(output.format)];
  expectThat(
    made.format.split(',').some((name) => names.includes(name)),
    `it is ${made.format}`,
  );
  const target = mediaFormat(output.format);
  expectThat(made.video !== undefined, 'it has no picture');
  const slack = Math.max(0.3, 0.3 * (given.seconds || 1));
  if (Number.isFinite(made.seconds) && !target.bare) {
    const wanted = operation === 'trim' ? trimmed.end - trimmed.start : 1;
    expectThat(Math.abs(made.seconds - wanted) <= slack, `it lasts ${made.seconds} instead of ${wanted} s`);
  }
  if (made.video && given.video && !target.geometry) {
    if (operation === 'compress')
      expectThat(made.video.width <= even(given.video.width), `it is ${made.video.width} wide`);
    else {
      const { width, height } = operation === 'crop' ? cropped : given.video;
      expectThat(
        made.video.width === even(width) && made.video.height === even(height),
        `it is ${made.video.width} × ${made.video.height} instead of ${width} × ${height}`,
      );
    }
  }
  if (made.video && given.video) {
    const pixel = given.video.aspect / (given.video.width / given.video.height);
    const shape = operation === 'crop' ? (cropped.width / cropped.height) * pixel : given.video.aspect;
    // Containers without a field for it forget that pixels are not square.
    const forgets = ['swf', 'rm', 'ivf', 'wtv', 'flv', 'wmv', 'asf', 'mjpeg', 'avi', 'divx', 'xvid'].includes(
      output.format,
    );
    if (!forgets && !target.geometry && operation !== 'compress') {
      expectThat(
        Math.abs(made.video.aspect - shape) / shape < 0.05,
        `its shape is ${made.video.aspect.toFixed(3)} instead of ${shape.toFixed(3)}`,
      );
    }
  }
  const least = Object.entries(minSimilarity).find(([name]) => name === operation)?.[1] ?? 0.8;
  const part = [parts[operation], target.geometry && inFrame].filter(Boolean).join(',') || undefined;
  const silent = !target.audio || !given.audio;
  const { similarity, sounds } = silent
    ? { similarity: await similarityOf(output, input, part), sounds: undefined }
    : await compareWithSound(output.path, input.path, part);
  expectThat(similarity >= least, `its similarity is ${similarity}`);
  if (sounds) judgeSound(...sounds, operation);
}

function similarityOf(output: Sample, input: Sample, part: string | undefined): Promise<number> {
  return input.format === 'webp' ? similarityOfWebp(output, input) : videoSimilarity(output.path, input.path, part);
}

/** Bars above and below are not part of the sample: 176x144 in a 4:3 frame. */
function even(length: number): number {
  return Math.round(length / 2) * 2;
}

async function similarityOfWebp(output: Sample, input: Sample): Promise<number> {
  const frame = await firstFrame(output.path);
  return pictureSimilarity(frame, await sharp(input.path, { page: 0 }).png().toBuffer());
}

/** Looks at the first variant of a stream, as a player of HLS finds it. */
async function verifyStream(output: Sample, input: Sample): Promise<void> {
  const path = join((await unpack(output.path)).folder, 'master.m3u8');
  const [made, given] = [await facts(path), await once(facts, input.path)];
  expectThat(made.format === 'hls', `it is ${made.format}`);
  expectThat((made.video === undefined) === (given.video === undefined), 'its pictures are not those of the input');
  expectThat((made.audio === undefined) === (given.audio === undefined), 'its sound is not that of the input');
  if (!made.video || !given.video) return judgeSound(await listen(path), await once(listen, input.path), 'convert');
  const [shape, wanted] = [made.video.aspect, given.video.aspect];
  expectThat(
    Math.abs(shape - wanted) / wanted < 0.05,
    `its shape is ${shape.toFixed(3)} instead of ${wanted.toFixed(3)}`,
  );
  const { similarity, sounds } = given.audio
    ? await compareWithSound(path, input.path)
    : { similarity: await videoSimilarity(path, input.path), sounds: undefined };
  expectThat(similarity >= minSimilarity.convert, `its similarity is ${similarity}`);
  if (sounds) judgeSound(...sounds, 'convert');
}

async function verifySound(output: Sample, input: Sample, operation: string): Promise<void> {
  const made = await facts(output.path);
  const alike: Record<string, string[]> = { mp2: ['mp3', 'mp2'], g722: ['g722'], m4r: ['mov'] };
  const wanted = alike[output.format] ?? [containerOf(output.format)];
  expectThat(
    made.format.split(',').some((name) => wanted.includes(name)),
    `it is ${made.format}`,
  );
  expectThat(made.video === undefined, 'it has pictures');
  judgeSound(await listen(output.path, output.format), await once(listen, input.path), operation);
}

function judgeSound(made: Sound, given: Sound, operation: string): void {
  const seconds = operation === 'trim' ? trimmed.end - trimmed.start : given.seconds;
  expectThat(
    Math.abs(made.seconds - seconds) <= (operation === 'trim' ? 0.25 : soundSlack),
    `its sound lasts ${made.seconds} instead of ${seconds} s`,
  );
  expectThat(
    made.tone > 0.75 * given.tone,
    `the tone is ${made.tone.toFixed(2)} of it instead of ${given.tone.toFixed(2)}`,
  );
  expectThat(
    made.level > given.level * 0.6 && made.level < given.level * 1.6,
    `its level is ${made.level.toFixed(3)} instead of ${given.level.toFixed(3)}`,
  );
}

async function verifyPicture(output: Sample, input: Sample): Promise<void> {
  const { width, height, format, pages = 1, pageHeight } = await sharp(output.path, { pages: -1 }).metadata();
  const names: Record<string, string> = { jpg: 'jpeg', apng: 'png' };
  expectThat(format === (names[output.format] ?? output.format), `it is ${format}`);
  const { video } = await once(facts, input.path);
  const tall = pageHeight ?? height;
  const shape = video?.aspect ?? Number.NaN;
  expectThat(Math.abs(width / tall - shape) < 0.03, `it is ${width} × ${tall}, but its shape should be ${shape}`);
  if (output.format === 'gif' || output.format === 'webp') expectThat(pages >= 5, `it has ${pages} pictures`);
  if (output.format === 'apng') expectThat((await frameCount(output.path)) >= 5, 'it does not move');
  const [made, given] = [await sharp(output.path, { page: 0 }).png().toBuffer(), await once(firstFrame, input.path)];
  const similarity = await pictureSimilarity(made, given);
  expectThat(similarity > 0.93, `its similarity is ${similarity.toFixed(3)}`);
}

async function frameCount(path: string): Promise<number> {
  const args = [
    '-v',
    'error',
    '-f',
    'apng',
    '-count_frames',
    '-show_entries',
    'stream=nb_read_frames',
    '-of',
    'csv=p=0',
    path,
  ];
  return Number((await execute('ffprobe', args)).stdout.trim());
}

async function firstFrame(path: string): Promise<Buffer> {
  const args = ['-v', 'error', '-nostdin', '-i', path, '-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', '-'];
  return (await execute('ffmpeg', args, { encoding: 'buffer', maxBuffer: 2 ** 26 })).stdout;
}

function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
