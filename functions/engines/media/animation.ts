import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Metadata } from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { EngineError, type InputFile } from '../runtime/engine.ts';
import { shapeOf } from './animation-shape.ts';
import { explained } from './explain.ts';
import { mediaFormat } from './formats.ts';
import { limits } from './limits.ts';
import { alphaDecoder, assumedMatrix, pictureMatrix, rateFilter, seek, toStandardRange } from './plan.ts';
import { type Preset, usualPreset } from './presets.ts';
import { openingArgs, type Probe, type VideoStream } from './probe.ts';
import { type MediaRun, runFfmpeg, withShare } from './programs.ts';
import { filterSeconds, type Writer } from './speeds.ts';
import { choosePreset, type Load } from './time-limit.ts';
import type { ProbedJob } from './transcode.ts';
import { type Cut, cutOf, cutSeconds, numberOf } from './values.ts';
import { countWebpFrames } from './webp-frames.ts';

// A cache would only keep other tasks' pixels in memory.
sharp.cache(false);

const usualRate = 10;
/** Frames of an animation decoded at once must not fill the memory. */
const smoothestRate = 50;
/** Limit for frames with individual delays, which are repeated to get a constant rate. */
const maxSteadyFrames = limits.animationFrames * 10;

interface Animation extends ProbedJob {
  video: VideoStream;
  cut: Cut | undefined;
  /** Duration of the output. */
  seconds: number | undefined;
}

/** Converts a video to an animated image. */
export async function animate(job: ProbedJob, run: MediaRun): Promise<void> {
  const { input, probe, options, target } = job;
  if (!probe.video) throw new EngineError(`The file has no video, so it cannot be converted to ${target.ext}.`);
  const names: [string, string] =
    target.ext === 'gif' ? ['cut_start_video_to_gif', 'cut_end_gif'] : ['trim_start', 'trim_end'];
  const cut = cutOf(options, names, probe.seconds);
  const animation: Animation = { ...job, video: probe.video, cut, seconds: cutSeconds(cut, probe.seconds) };
  requireFewFrames(animation);
  const preset = presetFor(animation, run);
  await explained(input, () => (target.ext === 'gif' ? writeGif(animation, run) : writeLossy(animation, preset, run)));
  await verifyAnimation(animation);
}

function rateOf({ options, target, video }: Animation): number {
  const wanted = numberOf(options, target.ext === 'gif' ? 'gif_fps' : 'fps') ?? usualRate;
  return Math.min(wanted, video.framesPerSecond ?? wanted);
}

function requireFewFrames(animation: Animation): void {
  const frames = (animation.seconds ?? 0) * rateOf(animation);
  if (frames <= limits.animationFrames) return;
  throw new EngineError(
    `The animation would have ${Math.round(frames)} frames; the maximum is ${limits.animationFrames}. Trim the video or lower the frame rate.`,
  );
}

/** Chooses the compression effort of an animation. Throws if even the fastest takes too long. */
function presetFor(animation: Animation, run: MediaRun): Preset {
  const { video, seconds, target, options } = animation;
  if (seconds === undefined) return usualPreset;
  const { width, height } = shapeOf(animation);
  const decoded = (video.width * video.height * (video.framesPerSecond ?? usualRate) * seconds) / 1_000_000;
  const slower = rateOf(animation) / (video.framesPerSecond ?? usualRate);
  const isGif = target.ext === 'gif';
  const load: Load = {
    seconds,
    pictures: { writer: writerOf(target.ext, options), width, height, frames: rateOf(animation) * seconds },
    // The palette of a GIF is made in a separate run.
    megapixelsRead: isGif ? decoded * 2 : decoded,
    oneCoreSeconds:
      (video.interlaced ? filterSeconds(['yadif'], decoded) : 0) +
      (video.highDynamicRange ? filterSeconds(toStandardRange, decoded * slower) : 0),
  };
  return choosePreset(load, undefined, run.timeLimit(), { writers: [], hasOptions: true });
}

function writerOf(ext: string, options: OptionValues): Writer {
  if (ext === 'webp') return options.lossless === true ? 'webpLossless' : 'webp';
  return ext === 'gif' ? 'gif' : 'apng';
}

function reading(animation: Animation): string[] {
  const { input, cut } = animation;
  const from = mediaFormat(input.format);
  const decoder = wantsAlpha(animation) ? alphaDecoder(animation.video) : [];
  return [...seek(cut, from).before, ...decoder, ...openingArgs(from, input.path)];
}

function cutting({ input, cut }: Animation): string[] {
  return seek(cut, mediaFormat(input.format)).after;
}

function wantsAlpha({ options }: Animation): boolean {
  return options.video_to_gif_transparency === true || options.background !== undefined;
}

function prepare(animation: Animation): string[] {
  const { flattening, filters } = shapeOf(animation);
  const deinterlacing = animation.video.interlaced ? ['yadif=deint=interlaced'] : [];
  const rate = rateFilter(rateOf(animation), animation.seconds);
  const toneMapping = animation.video.highDynamicRange ? toStandardRange : [];
  const colours = pictureMatrix(animation.options.lossless === true ? '' : animation.target.ext);
  return [
    ...assumedMatrix(animation.video),
    ...deinterlacing,
    ...flattening,
    rate,
    ...toneMapping,
    ...filters,
    ...colours,
  ];
}

/** Makes the palette in a separate run: in one graph with the frames, all of them would be kept in memory. */
async function writeGif(animation: Animation, run: MediaRun): Promise<void> {
  const { options, video, path, seconds, onShare } = animation;
  const compression = numberOf(options, 'video_to_gif_compression') ?? 0;
  const colours = Math.round(256 - compression * 2.24);
  const still = options.video_to_gif_optimize_static_bg === true;
  const transparent = options.video_to_gif_transparency === true;
  const prepared = prepare(animation).join(',');
  const palette = join(run.folder, 'palette.png');
  const share = (from: number, to: number) => withShare(run, seconds, (done) => onShare(from + done * (to - from)));
  const paletteFilter = `palettegen=max_colors=${colours}:stats_mode=${still ? 'diff' : 'full'}:reserve_transparent=${transparent ? 1 : 0}`;
  await runFfmpeg(
    [
      ...reading(animation),
      ...cutting(animation),
      ...['-map', `0:${video.index}`, '-filter:v', `${prepared},${paletteFilter}`],
      ...['-frames:v', '1', '-update', '1', '-f', 'image2', palette],
    ],
    share(0, 0.4),
  );
  const dither =
    compression === 0 ? 'sierra2_4a' : `bayer:bayer_scale=${Math.min(5, 1 + Math.floor(compression / 20))}`;
  const use = `paletteuse=dither=${dither}${still ? ':diff_mode=rectangle' : ''}`;
  const loops = numberOf(options, 'loop_count_video_to_gif') ?? 0;
  await runFfmpeg(
    [
      ...reading(animation),
      ...['-f', 'png_pipe', '-i', palette],
      ...['-filter_complex', `[0:${video.index}]${prepared}[pictures];[pictures][1:v]${use}[out]`, '-map', '[out]'],
      ...cutting(animation),
      ...['-frames:v', String(limits.animationFrames)],
      // The format stores repetitions: no value means that the animation plays once.
      ...['-loop', String(loops === 0 ? 0 : loops === 1 ? -1 : loops - 1)],
      ...['-f', 'gif', path],
    ],
    share(0.4, 1),
  );
  await rm(palette);
}

async function writeLossy(animation: Animation, preset: Preset, run: MediaRun): Promise<void> {
  const { options, video, target, path, seconds, onShare } = animation;
  const loops = String(numberOf(options, 'loop_count') ?? 0);
  const coding =
    target.ext === 'webp'
      ? ['-c:v', 'libwebp_anim', ...webpQuality(options, preset), '-loop', loops]
      : ['-c:v', 'apng', '-plays', loops, '-pix_fmt', shapeOf(animation).isTransparent ? 'rgba' : 'rgb24'];
  await runFfmpeg(
    [
      ...reading(animation),
      ...['-map', `0:${video.index}`, '-filter:v', prepare(animation).join(',')],
      ...cutting(animation),
      ...['-frames:v', String(limits.animationFrames)],
      ...coding,
      ...['-f', target.muxer ?? '', path],
    ],
    withShare(run, seconds, onShare),
  );
}

const usualWebpLevel = 4;
/** At level 2 a file is about 3% larger, and at level 0 about 14%. */
const webpLevels: Partial<Record<Preset, number>> = { superfast: 2, ultrafast: 0 };

function webpQuality(options: OptionValues, preset: Preset): string[] {
  // Lossless output keeps every pixel, but the usual pixel format subsamples colours.
  if (options.lossless === true) return ['-lossless', '1', '-pix_fmt', 'bgra'];
  return [
    ...['-quality', String(numberOf(options, 'quality') ?? 75)],
    ...['-compression_level', String(webpLevels[preset] ?? usualWebpLevel)],
  ];
}

/** Verifies the output with another library than its writer. A single frame is written as a plain PNG. */
async function verifyAnimation(animation: Animation): Promise<void> {
  const { path } = animation;
  const expected = shapeOf(animation);
  const found = await sizeBySharp(path);
  if (!found) throw new EngineError('Nothing in the file could be decoded: it is damaged or incomplete.');
  if (found.width !== expected.width || found.height !== expected.height) {
    throw new EngineError(
      `The animation is ${found.width} × ${found.height} instead of ${expected.width} × ${expected.height} pixels.`,
    );
  }
}

async function sizeBySharp(path: string): Promise<{ width: number; height: number } | undefined> {
  if ((await stat(path)).size === 0) return undefined;
  const { width, height, pageHeight, pages = 1 } = await sharp(path, { pages: -1, limitInputPixels: false }).metadata();
  return pages > 0 ? { width, height: pageHeight ?? height } : undefined;
}

/** An animation that ffmpeg cannot read, split into frames. */
interface PlainPictures {
  args: string[];
  probe: Probe;
}

/** Decodes an animated WebP, which ffmpeg does not read, to frames at a constant rate. */
export async function decodeWebp(input: InputFile, folder: string): Promise<PlainPictures> {
  requireFewInputFrames(await countWebpFrames(input.path, limits.inputFrames + 1));
  const image = sharp(input.path, { animated: true, limitInputPixels: limits.animationPixels });
  let metadata: Metadata;
  let pixels: Buffer;
  try {
    metadata = await image.metadata();
    requireAnimation(metadata.pages ?? 1);
    pixels = await image.flatten({ background: '#ffffff' }).removeAlpha().toColourspace('srgb').raw().toBuffer();
  } catch (error) {
    if (error instanceof EngineError || !(error instanceof Error)) throw error;
    const large = error.message.includes('exceeds pixel limit');
    throw new EngineError(
      large
        ? `The frames of the animation have more than ${limits.animationPixels / 1_000_000} million pixels in total. Scale it down first.`
        : 'The file could not be read as webp: it is damaged or incomplete.',
      { detail: error.message, cause: error },
    );
  }
  const { width } = metadata;
  const height = metadata.pageHeight ?? metadata.height;
  const delays = (metadata.delay ?? []).map((delay) => Math.max(delay, 1000 / smoothestRate));
  const order = steadyOrder(delays, metadata.pages ?? 1);
  const frameBytes = width * height * 3;
  if (order.frames.length * frameBytes > limits.outputBytes / 2) {
    throw new EngineError('The animation is too long for its size. Scale it down or trim it first.');
  }
  const path = join(folder, 'pictures.rgb');
  await writeFile(
    path,
    order.frames.map((frame) => pixels.subarray(frame * frameBytes, (frame + 1) * frameBytes)),
  );
  return {
    args: [
      ...['-protocol_whitelist', 'file,pipe', '-f', 'rawvideo', '-pixel_format', 'rgb24'],
      ...['-video_size', `${width}x${height}`, '-framerate', String(order.rate), '-i', path],
    ],
    probe: {
      seconds: order.frames.length / order.rate,
      video: {
        index: 0,
        codec: 'rawvideo',
        width,
        height,
        pixelAspect: 1,
        rotated: false,
        framesPerSecond: order.rate,
        pixelFormat: 'rgb24',
        matrix: 'gbr',
        interlaced: false,
        highDynamicRange: false,
      },
      audio: [],
      subtitles: [],
      cover: undefined,
    },
  };
}

/** Throws if an image is not animated. */
export function requireAnimation(pages: number): void {
  if (pages < 2) throw new EngineError('The image is not animated. Convert it to an image format instead of a video.');
}

/** Throws if an animated image has too many frames or pixels in total. */
export function requireFewInputFrames(frames: number, size?: { width: number; height: number }): void {
  if (frames > limits.inputFrames) {
    throw new EngineError(
      `The animation has more than ${limits.inputFrames} frames, which is the maximum. Split it first.`,
    );
  }
  if (size && frames * size.width * size.height > limits.inputPixels) {
    throw new EngineError(
      `The ${frames} frames of the animation have more than ${limits.inputPixels / 1_000_000} million pixels in total. Scale it down or trim it first.`,
    );
  }
}

/**
 * Returns a frame rate for frames with individual delays in milliseconds: one that shows each frame exactly as long, or the
 * highest one. A long animation gets the rate of its shortest frame, because there would be too many frames otherwise.
 */
export function steadyRate(delays: number[]): number {
  const known = delays.filter((delay) => delay > 0);
  const common = known.reduce((one, other) => divisor(one, other), 0) || 100;
  const seconds = known.reduce((sum, delay) => sum + delay, 0) / 1000;
  const exact = Math.min(smoothestRate, Math.max(1, 1000 / common));
  if (exact * seconds <= maxSteadyFrames) return exact;
  return Math.min(smoothestRate, Math.max(1, Math.round(1000 / Math.min(...known))));
}

function divisor(one: number, other: number): number {
  return other === 0 ? one : divisor(other, one % other);
}

/** Spreads frames with individual delays over a constant rate. */
function steadyOrder(delays: number[], pages: number): { rate: number; frames: number[] } {
  const known = Array.from({ length: pages }, (_, page) => delays[page] ?? 100);
  const rate = steadyRate(known);
  const seconds = known.reduce((sum, delay) => sum + delay, 0) / 1000;
  if (seconds * rate > maxSteadyFrames) {
    throw new EngineError(
      `The animation lasts ${Math.round(seconds)} seconds at ${rate} frames per second; the maximum is ${maxSteadyFrames} frames. Split it first.`,
    );
  }
  const frames: number[] = [];
  let elapsed = 0;
  for (const [page, delay] of known.entries()) {
    elapsed += delay;
    const until = Math.max(Math.round((elapsed * rate) / 1000), frames.length + 1);
    while (frames.length < until) frames.push(page);
  }
  return { rate, frames };
}
