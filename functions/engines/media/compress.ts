import { copyFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { EngineError, type InputFile, type OutputFile, type Work } from '../runtime/engine.ts';
import { encodesInRealTime } from './codecs.ts';
import { oneOf, presetSize } from './convert.ts';
import { type AudioEncoder, type VideoEncoder, videoEncoders } from './encoders.ts';
import { explain } from './explain.ts';
import { type MediaFormat, mediaFormat } from './formats.ts';
import { emptyRequest, type MediaRequest, plan, type Resize } from './plan.ts';
import { type Preset, usualPreset } from './presets.ts';
import { openingArgs, type Probe, probeInput, type VideoStream } from './probe.ts';
import { type MediaRun, runFfmpeg } from './programs.ts';
import { choosePreset, type Runs } from './time-limit.ts';
import { outputOf, transcode } from './transcode.ts';
import { numberOf, wordOf } from './values.ts';

export interface Compressed {
  output: OutputFile;
  sizeBefore: number;
  sizeAfter: number;
  note?: string;
}

interface Compression {
  input: InputFile;
  probe: Probe;
  target: MediaFormat;
  options: OptionValues;
  path: string;
  onShare: (share: number) => void;
}

/** A size between this share of the target and the target meets it. */
const metFrom = 0.95;
/** Share of the target that an attempt aims for, so that small deviations still meet it. */
const aim = 0.975;
const maxAttempts = 8;

/** Compresses audio or video. */
export async function compress(
  work: Work,
  input: InputFile,
  index: number,
  run: MediaRun,
  onShare: (share: number) => void,
): Promise<Compressed> {
  const target = mediaFormat(work.outputFormat);
  const read = await probeInput(input, run);
  const path = join(work.folder, `${index}.${target.ext}`);
  // Cover art may be larger than the whole target.
  const isSized =
    target.kind === 'video' || ['by_size', 'by_percentage'].includes(wordOf(work.options, 'compress_audio') ?? '');
  const probe = isSized ? { ...read, cover: undefined } : read;
  const job: Compression = { input, probe, target, options: work.options, path, onShare };
  const same = target.ext === input.format;
  const bytes = target.kind === 'audio' ? audioTarget(job) : videoTarget(job);
  if (same && bytes !== undefined && input.size <= bytes)
    return original({ ...job, probe: read }, 'The file is already as small as requested.', run);
  if (bytes !== undefined) await (target.kind === 'audio' ? fitAudio(job, bytes, run) : fitVideo(job, bytes, run));
  else await byQuality(job, run);
  const { size } = await stat(path);
  if (same && size >= input.size) {
    return original({ ...job, probe: read }, 'The file is already compressed: re-encoding would make it larger.', run);
  }
  return { output: outputOf(input, target, path), sizeBefore: input.size, sizeAfter: size };
}

function strips({ options }: Compression): boolean {
  return options.strip !== false;
}

/** Returns the input unchanged, or with its streams copied if tags have to be removed. */
async function original(job: Compression, note: string, run: MediaRun): Promise<Compressed> {
  const { input, target, path, probe } = job;
  const { tags } = probe;
  const isTagged = tags?.identifying.some((name) => !/^encoder$/i.test(name));
  if (strips(job) && isTagged) await transcode({ input, probe, target, request: emptyRequest, path }, run);
  else await copyFile(input.path, path);
  return { output: outputOf(input, target, path), sizeBefore: input.size, sizeAfter: (await stat(path)).size, note };
}

function videoTarget({ options, input }: Compression): number | undefined {
  const megabytes = numberOf(options, 'video_compress_max_filesize');
  const percentage = numberOf(options, 'video_compress_quality_percentage') ?? 60;
  switch (wordOf(options, 'compress_video')) {
    case 'by_size':
      if (megabytes === undefined)
        throw new EngineError('Set video_compress_max_filesize, which compress_video by_size requires.');
      return megabytes * 1_000_000;
    case 'by_percentage':
      return (input.size * percentage) / 100;
    default:
      return undefined;
  }
}

function audioTarget({ options, input }: Compression): number | undefined {
  const megabytes = numberOf(options, 'audio_compress_max_filesize');
  const percentage = numberOf(options, 'audio_compress_percentage') ?? 60;
  switch (wordOf(options, 'compress_audio')) {
    case 'by_size':
      if (megabytes === undefined)
        throw new EngineError('Set audio_compress_max_filesize, which compress_audio by_size requires.');
      return megabytes * 1_000_000;
    case 'by_percentage':
      return (input.size * percentage) / 100;
    default:
      return undefined;
  }
}

async function byQuality(job: Compression, run: MediaRun): Promise<void> {
  const { input, probe, target, options, path, onShare } = job;
  const bitRate = numberOf(options, 'audio_bitrate') ?? 96;
  const request: MediaRequest =
    target.kind === 'audio'
      ? { ...emptyRequest, copies: false, strip: strips(job), audio: lowRate(bitRate * 1000, target) }
      : { ...emptyRequest, copies: false, strip: strips(job), ...qualityOf(job) };
  await transcode({ input, probe, target, request, path, onShare }, run);
}

function encoderOf({ options, target }: Compression): VideoEncoder {
  const encoders = target.video?.encoders ?? [];
  const encoder = oneOf(wordOf(options, 'video_codec_compress'), encoders) ?? encoders[0];
  if (!encoder) throw new Error(`${target.ext} has no encoder.`);
  return encoder;
}

function qualityOf(job: Compression): Pick<MediaRequest, 'video' | 'resize'> {
  const { options } = job;
  const encoder = encoderOf(job);
  const preset = wordOf(options, 'video_compress_speed');
  const crf = numberOf(options, encoder === 'libx265' ? 'video_compress_crf_x265' : 'video_compress_crf_x264');
  switch (wordOf(options, 'compress_video')) {
    case 'by_resolution':
      return { video: { encoder, preset, crf: 26 }, resize: resolutionOf(job) };
    case 'by_max_bitrate': {
      const maxKilobits = numberOf(options, 'video_compress_max_bitrate');
      if (maxKilobits === undefined)
        throw new EngineError('Set video_compress_max_bitrate, which compress_video by_max_bitrate requires.');
      const buffer = numberOf(options, 'video_compressor_bufsize');
      const limited = steadyEncoders.includes(encoder) ? { crf: 26 } : { bitRate: maxKilobits * 900 };
      return {
        video: {
          encoder,
          preset,
          ...limited,
          maxRate: maxKilobits * 1000,
          bufferSize: buffer === undefined ? undefined : buffer * 1000,
        },
      };
    }
    default:
      return { video: { encoder, preset, crf: crf ?? 28 } };
  }
}

/** Encoders that support a maximum bit rate with a constant quality. */
const steadyEncoders: VideoEncoder[] = ['libx264', 'libx265'];

function resolutionOf({ options, probe }: Compression): Resize | undefined {
  const width = numberOf(options, 'video_custom_width_compress');
  const height = numberOf(options, 'video_custom_height_compress');
  const upright = probe.video !== undefined && probe.video.height > probe.video.width;
  switch (wordOf(options, 'video_compression_resize_method')) {
    case 'by_width_keep_ar':
      return { width, fit: 'scale' };
    case 'by_height_keep_ar':
      return { height, fit: 'scale' };
    case 'by_width_height':
      return { width, height, fit: 'scale' };
    default:
      return {
        ...presetSize(wordOf(options, 'video_compression_resolution_preset') ?? '1280:720', upright),
        fit: 'max',
      };
  }
}

const modernEncoders: VideoEncoder[] = ['libx264', 'libx265', 'libvpx-vp9', 'libsvtav1'];
const minBitRate = 6000;
const minSide = 64;

interface Attempt {
  bitRate: number;
  /** Scale of the sides, at most 1. */
  scale: number;
  size: number;
}

/** Encodes a video to a target size in two passes, then corrects the bit rate by the resulting size. */
async function fitVideo(job: Compression, bytes: number, run: MediaRun): Promise<void> {
  const { input, probe, target, path, onShare } = job;
  const { video } = probe;
  const seconds = await measuredSeconds(job, run);
  if (!video || seconds === undefined) {
    throw new EngineError(
      'The duration of the video is unknown, so it cannot be compressed to a size. Compress it by quality instead.',
    );
  }
  const encoder = encoderOf(job);
  const bits = (bytes * 8 * aim) / seconds;
  const audioRate = probe.audio.length > 0 && target.audio ? Math.max(12_000, Math.min(128_000, bits * 0.12)) : 0;
  const audio: MediaRequest['audio'] = audioRate > 0 ? lowRate(audioRate, target) : { encoder: 'none' };
  const ceiling = Math.max(40_000_000, ((input.size * 8) / seconds) * 2);
  let next = firstAttempt(video, encoder, Math.min(bits - audioRate, ceiling));
  const requestOf = ({ bitRate, scale }: Omit<Attempt, 'size'>, preset?: Preset): MediaRequest => ({
    ...emptyRequest,
    copies: false,
    strip: strips(job),
    subtitles: 'none',
    resize: scaled(video, scale),
    video: { encoder, preset, bitRate },
    audio,
  });
  const preset = presetFor(job, requestOf(next), encoder, seconds, run);
  const passes = videoEncoders[encoder].hasPasses && !encodesInRealTime(encoder, preset);
  let passScale: number | undefined;
  const attempts: Attempt[] = [];
  const clock = new AttemptClock(run);
  for (let at = 0; at < maxAttempts; at++) {
    const request = requestOf(next, preset);
    const log = join(run.folder, 'passes');
    if (passes && passScale !== next.scale) await firstPass(job, request, log, run);
    passScale = next.scale;
    const passArgs = passes ? ['-pass', '2', '-passlogfile', log] : [];
    const candidate = `${path}.${at}`;
    const share = (done: number) => onShare(at === 0 ? 0.4 + done * 0.5 : 0.9);
    await transcode({ input, probe, target, request, path: candidate, passArgs, onShare: share }, run);
    const { size } = await stat(candidate);
    attempts.push({ ...next, size });
    await keepBest(attempts, candidate, path, bytes);
    if (size <= bytes && (size >= bytes * metFrom || saturated(attempts))) break;
    const following = correct(attempts, bytes, (audioRate * seconds) / 8, video);
    if (!following) break;
    if (!clock.hasTimeForMore()) return requireMetInTime(attempts, bytes);
    next = { ...following, bitRate: Math.min(following.bitRate, ceiling) };
  }
  requireMet(attempts, bytes);
}

/** A first pass takes about half the time of a second; usually, a second attempt meets the size. */
const twoPassRuns: Runs = { usual: 2.5, min: 1.5 };
const onePassRuns: Runs = { usual: 3, min: 1 };

/** Chooses the preset for all attempts together. */
function presetFor(
  { probe, input, target, options }: Compression,
  request: MediaRequest,
  encoder: VideoEncoder,
  seconds: number,
  run: MediaRun,
): Preset {
  const wanted = wordOf(options, 'video_compress_speed');
  const { load } = plan(probe, mediaFormat(input.format), target, request, seconds);
  if (!load) throw new Error('A video with a known duration must have a load.');
  // Two passes give the best quality for a size. VP9 has no second pass in real-time mode.
  const slowest: Preset = encoder === 'libvpx-vp9' ? 'fast' : usualPreset;
  const choices = { writers: target.video?.encoders ?? [], hasOptions: true, slowest };
  return choosePreset(load, wanted, run.timeLimit(), choices, (preset) =>
    videoEncoders[encoder].hasPasses && !encodesInRealTime(encoder, preset) ? twoPassRuns : onePassRuns,
  );
}

/** Decides whether another attempt would end in time, by the duration of earlier ones. */
class AttemptClock {
  readonly #run: MediaRun;
  #started = performance.now();

  constructor(run: MediaRun) {
    this.#run = run;
  }

  hasTimeForMore(): boolean {
    const now = performance.now();
    const seconds = (now - this.#started) / 1000;
    this.#started = now;
    return seconds * 1.2 < this.#run.timeLimit().max;
  }
}

function requireMetInTime(attempts: Attempt[], bytes: number): void {
  if (attempts.some(({ size }) => size <= bytes)) return;
  throw new EngineError(
    `The file could not be compressed to ${megabytes(bytes)} in the time that a task has. Choose a faster preset, a lower resolution or a larger size, or trim the file.`,
  );
}

/** Runs the first pass with the same command as the second: any other counts frames differently. */
async function firstPass(job: Compression, request: MediaRequest, log: string, run: MediaRun): Promise<void> {
  const { input, probe, target, path, onShare } = job;
  const written = `${path}.first`;
  const passArgs = ['-pass', '1', '-passlogfile', log];
  const share = (done: number) => onShare(done * 0.4);
  await transcode({ input, probe, target, request, path: written, passArgs, onShare: share, discarded: true }, run);
  await rm(written, { force: true });
}

/** Reads raw streams once to measure their duration, which they do not declare. */
async function measuredSeconds({ input, probe }: Compression, run: MediaRun): Promise<number | undefined> {
  const from = mediaFormat(input.format);
  if (from.knowsDuration || !from.untimed || !probe.video) return probe.seconds;
  const reading = [...openingArgs(from, input.path), '-map', `0:${probe.video.index}`, '-f', 'null', '-'];
  try {
    return (await runFfmpeg(reading, run)).seconds || undefined;
  } catch (error) {
    throw explain(error, input);
  }
}

/** Below a number of bits per pixel, a smaller frame looks better than a blocky one. */
function firstAttempt(video: VideoStream, encoder: VideoEncoder, bitRate: number): Omit<Attempt, 'size'> {
  const minBitsPerPixel = modernEncoders.includes(encoder) ? 0.012 : 0.04;
  const enough = video.width * video.height * Math.min(video.framesPerSecond ?? 25, 60) * minBitsPerPixel;
  const wanted = Math.max(bitRate, minBitRate);
  return { bitRate: wanted, scale: Math.max(minScale(video), Math.min(1, Math.sqrt(wanted / enough))) };
}

function minScale(video: VideoStream): number {
  return Math.min(1, minSide / Math.min(video.width, video.height));
}

function scaled(video: VideoStream, scale: number): Resize | undefined {
  if (scale >= 1) return undefined;
  return { width: video.width * video.pixelAspect * scale, height: video.height * scale, fit: 'inside' };
}

async function keepBest(attempts: Attempt[], candidate: string, path: string, bytes: number): Promise<void> {
  const latest = attempts.at(-1)?.size ?? Number.POSITIVE_INFINITY;
  const earlier = attempts
    .slice(0, -1)
    .map(({ size }) => size)
    .filter((size) => size <= bytes);
  if (latest <= bytes && earlier.every((size) => size < latest)) await rename(candidate, path);
  else await rm(candidate);
}

/** Returns whether more bits no longer make the file larger. */
function saturated(attempts: Attempt[]): boolean {
  const [before, last] = attempts.slice(-2);
  if (!before || !last) return false;
  return last.scale === before.scale && last.bitRate > before.bitRate * 1.2 && last.size < before.size * 1.03;
}

/** Plans the next attempt from the results so far, or returns undefined if nothing smaller is left. */
function correct(
  attempts: Attempt[],
  bytes: number,
  soundBytes: number,
  video: VideoStream,
): Omit<Attempt, 'size'> | undefined {
  const [before, last] = attempts.slice(-2);
  const now = last ?? before;
  if (!now) return undefined;
  const pictures = Math.max(now.size - soundBytes, now.size * 0.2);
  const wanted = Math.max(bytes * aim - soundBytes, bytes * 0.1);
  const factor = Math.max(0.2, Math.min(4, wanted / pictures));
  const bitRate = Math.max(minBitRate, now.bitRate * factor);
  const stuck =
    now.size > bytes &&
    (now.bitRate <= minBitRate ||
      (last !== undefined &&
        before !== undefined &&
        last.scale === before.scale &&
        before.size > bytes &&
        last.size > before.size * 0.93));
  if (!stuck) return { bitRate, scale: now.scale };
  if (now.scale <= minScale(video)) return undefined;
  return { bitRate, scale: Math.max(minScale(video), now.scale * 0.7) };
}

function requireMet(attempts: Attempt[], bytes: number): void {
  const smallest = Math.min(...attempts.map(({ size }) => size));
  if (smallest <= bytes) return;
  throw new EngineError(
    `The file cannot be compressed to ${megabytes(bytes)}: the smallest possible size is about ${megabytes(smallest)}.`,
    {
      detail: attempts
        .map(({ bitRate, scale, size }) => `${Math.round(bitRate)} bit/s, scale ${scale.toFixed(2)}: ${size} bytes`)
        .join('\n'),
    },
  );
}

function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`;
}

const maxAudioRate: Partial<Record<AudioEncoder, number>> = { libmp3lame: 320_000, wmav2: 320_000 };
const minAudioRate = 6000;
/** Bit rates that older codecs support at every sample rate. */
const audioSteps = [32_000, 48_000, 64_000, 96_000, 128_000];

/** At low bit rates, one channel and fewer samples sound better. */
function lowRate(bitRate: number, target: MediaFormat): MediaRequest['audio'] {
  const encoder = target.audio?.encoders[0];
  const stepped = encoder === 'mp2' || encoder === 'ac3' || encoder === 'eac3';
  return {
    encoder,
    bitRate: stepped ? (audioSteps.findLast((step) => step <= bitRate) ?? 32_000) : Math.max(minAudioRate, bitRate),
    steady: true,
    ...(bitRate < 40_000 ? { channels: 1 } : {}),
    ...(bitRate < 14_000
      ? { rate: 8000 }
      : bitRate < 24_000
        ? { rate: 16_000 }
        : bitRate < 40_000
          ? { rate: 24_000 }
          : {}),
  };
}

/** Encodes audio to a target size. */
async function fitAudio(job: Compression, bytes: number, run: MediaRun): Promise<void> {
  const { input, probe, target, path, onShare } = job;
  const { seconds } = probe;
  if (seconds === undefined) {
    throw new EngineError(
      'The duration of the audio is unknown, so it cannot be compressed to a size. Compress it by bit rate instead.',
    );
  }
  const encoder = target.audio?.encoders[0];
  const channels = Math.max(1, Math.min(2, probe.audio[0]?.channels ?? 2));
  const maxBitRate = (encoder && maxAudioRate[encoder]) ?? 250_000 * channels;
  const attempts: Attempt[] = [];
  const clock = new AttemptClock(run);
  let bitRate = Math.min(maxBitRate, Math.max(minAudioRate, (bytes * 8 * aim) / seconds));
  for (let at = 0; at < maxAttempts; at++) {
    const request: MediaRequest = {
      ...emptyRequest,
      copies: false,
      strip: strips(job),
      audio: lowRate(bitRate, target),
    };
    const candidate = `${path}.${at}`;
    await transcode(
      {
        input,
        probe,
        target,
        request,
        path: candidate,
        onShare: (share) => onShare(at === 0 ? share * 0.8 : 0.9),
      },
      run,
    );
    const { size } = await stat(candidate);
    attempts.push({ bitRate, scale: 1, size });
    await keepBest(attempts, candidate, path, bytes);
    if (size <= bytes && (size >= bytes * metFrom || saturated(attempts) || bitRate >= maxBitRate)) break;
    if (size > bytes && bitRate <= minAudioRate) break;
    if (!clock.hasTimeForMore()) return requireMetInTime(attempts, bytes);
    const factor = Math.max(0.3, Math.min(3, (bytes * aim) / size));
    bitRate = Math.min(maxBitRate, Math.max(minAudioRate, bitRate * factor));
  }
  requireMet(attempts, bytes);
}
