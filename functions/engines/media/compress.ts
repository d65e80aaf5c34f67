import { copyFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { EngineError, type OutputFile } from '../runtime/engine.ts';
import { encodesInRealTime } from './codecs.ts';
import { isUpright, oneOf, presetSize } from './convert.ts';
import { type AudioEncoder, type VideoEncoder, videoEncoders } from './encoders.ts';
import { explained } from './explain.ts';
import { type MediaFormat, mediaFormat } from './formats.ts';
import { emptyRequest, type MediaRequest, plan, type Resize } from './plan.ts';
import { type Preset, usualPreset } from './presets.ts';
import { openingArgs, probeInput, type VideoStream } from './probe.ts';
import { type MediaRun, runFfmpeg } from './programs.ts';
import { choosePreset, type Runs } from './time-limit.ts';
import { type MediaJob, outputOf, type ProbedJob, type Transcode, transcode } from './transcode.ts';
import { numberOf, thousandsOf, wordOf } from './values.ts';

export interface Compressed {
  output: OutputFile;
  sizeBefore: number;
  sizeAfter: number;
  note?: string;
}

/** A size between this share of the target and the target meets it. */
const metFrom = 0.95;
/** Share of the target that an attempt aims for, so that small deviations still meet it. */
const aim = 0.975;
const maxAttempts = 8;

/** Compresses audio or video. */
export async function compress(job: MediaJob, run: MediaRun): Promise<Compressed> {
  const { input, target, options } = job;
  const probe = await probeInput(input, run);
  // Cover art may be larger than the whole target.
  const isSized =
    target.kind === 'video' || ['by_size', 'by_percentage'].includes(wordOf(options, 'compress_audio') ?? '');
  const sized = { ...job, probe: isSized ? { ...probe, cover: undefined } : probe };
  const same = target.ext === input.format;
  const bytes = targetBytes(job);
  if (same && bytes !== undefined && input.size <= bytes)
    return original({ ...job, probe }, 'The file is already as small as requested.', run);
  const request = compressRequest(sized);
  if (request) await transcode({ ...sized, request }, run);
  else if (bytes !== undefined)
    await (target.kind === 'audio' ? fitAudio(sized, bytes, run) : fitVideo(sized, bytes, run));
  return smaller({ ...job, probe }, run);
}

/** Returns the compressed file, or the original if that is smaller. */
export async function smaller(job: ProbedJob, run: MediaRun): Promise<Compressed> {
  const { input, target, path } = job;
  const { size } = await stat(path);
  if (target.ext === input.format && size >= input.size) {
    return original(job, 'The file is already compressed: re-encoding would make it larger.', run);
  }
  return { output: outputOf(job), sizeBefore: input.size, sizeAfter: size };
}

/** Returns the details to show next to a compressed file. */
export function compressedDetails({ sizeBefore, sizeAfter, note }: Compressed): JsonObject {
  return { size_before: sizeBefore, size_after: sizeAfter, ...(note ? { note } : {}) };
}

/** Reads the options of a compression. Returns undefined if it has a target size. */
export function compressRequest(job: ProbedJob): MediaRequest | undefined {
  return targetBytes(job) === undefined ? requestOf(job, qualityOf(job)) : undefined;
}

function requestOf({ options }: MediaJob, quality: Partial<MediaRequest>): MediaRequest {
  return { ...emptyRequest, copies: false, strip: options.strip !== false, ...quality };
}

/** Returns the input unchanged, or with its streams copied if tags have to be removed. */
async function original(job: ProbedJob, note: string, run: MediaRun): Promise<Compressed> {
  const { input, options, path, probe } = job;
  const isTagged = probe.tags?.identifying.some((name) => !/^encoder$/i.test(name));
  if (options.strip !== false && isTagged) await transcode({ ...job, request: emptyRequest, onShare: () => {} }, run);
  else await copyFile(input.path, path);
  return { output: outputOf(job), sizeBefore: input.size, sizeAfter: (await stat(path)).size, note };
}

/** Returns the requested size. Undefined if something else is requested, such as a quality. */
export function targetBytes({ options, input, target }: MediaJob): number | undefined {
  const kind = target.kind === 'audio' ? 'audio' : 'video';
  const percentage = kind === 'audio' ? 'audio_compress_percentage' : 'video_compress_quality_percentage';
  const maxSize = `${kind}_compress_max_filesize`;
  switch (wordOf(options, `compress_${kind}`)) {
    case 'by_size':
      return required(options, maxSize, `compress_${kind} by_size`) * 1_000_000;
    case 'by_percentage':
      return (input.size * (numberOf(options, percentage) ?? 60)) / 100;
    default:
      return undefined;
  }
}

function required(options: OptionValues, name: string, by: string): number {
  const value = numberOf(options, name);
  if (value === undefined) throw new EngineError(`Set ${name}, which ${by} requires.`);
  return value;
}

function encoderOf({ options, target }: MediaJob): VideoEncoder {
  const encoders = target.video?.encoders ?? [];
  const encoder = oneOf(wordOf(options, 'video_codec_compress'), encoders) ?? encoders[0];
  if (!encoder) throw new Error(`${target.ext} has no encoder.`);
  return encoder;
}

function qualityOf(job: ProbedJob): Partial<MediaRequest> {
  const { options, target } = job;
  if (target.kind === 'audio') return { audio: lowRate(thousandsOf(options, 'audio_bitrate') ?? 96_000, target) };
  const encoder = encoderOf(job);
  const preset = wordOf(options, 'video_compress_speed');
  switch (wordOf(options, 'compress_video')) {
    case 'by_resolution':
      return { video: { encoder, preset, crf: 26 }, resize: resolutionOf(job) };
    case 'by_max_bitrate': {
      const maxRate = required(options, 'video_compress_max_bitrate', 'compress_video by_max_bitrate') * 1000;
      const limited = steadyEncoders.includes(encoder) ? { crf: 26 } : { bitRate: maxRate * 0.9 };
      const bufferSize = thousandsOf(options, 'video_compressor_bufsize');
      return { video: { encoder, preset, ...limited, maxRate, bufferSize } };
    }
    default: {
      const crf = numberOf(options, encoder === 'libx265' ? 'video_compress_crf_x265' : 'video_compress_crf_x264');
      return { video: { encoder, preset, crf: crf ?? 28 } };
    }
  }
}

/** Encoders that support a maximum bit rate with a constant quality. */
const steadyEncoders: VideoEncoder[] = ['libx264', 'libx265'];

function resolutionOf({ options, probe }: ProbedJob): Resize {
  const width = numberOf(options, 'video_custom_width_compress');
  const height = numberOf(options, 'video_custom_height_compress');
  switch (wordOf(options, 'video_compression_resize_method')) {
    case 'by_width_keep_ar':
      return { width, fit: 'scale' };
    case 'by_height_keep_ar':
      return { height, fit: 'scale' };
    case 'by_width_height':
      return { width, height, fit: 'scale' };
    default: {
      const resolution = wordOf(options, 'video_compression_resolution_preset') ?? '1280:720';
      return { ...presetSize(resolution, isUpright(probe.video)), fit: 'max' };
    }
  }
}

const modernEncoders: VideoEncoder[] = ['libx264', 'libx265', 'libvpx-vp9', 'libsvtav1'];
const minBitRate = 6000;
const minSide = 64;

interface Setting {
  bitRate: number;
  /** Scale of the sides, at most 1. */
  scale: number;
}

type Attempt = Setting & { size: number };

/** Encodes with corrected settings until the size is met, nothing is left to correct, or the time is over. */
async function fitSize(
  { path }: MediaJob,
  bytes: number,
  run: MediaRun,
  first: Setting,
  encode: (setting: Setting, path: string, at: number) => Promise<void>,
  correct: (attempts: Attempt[], last: Attempt) => Setting | undefined,
): Promise<void> {
  const attempts: Attempt[] = [];
  let next: Setting | undefined = first;
  for (let at = 0; next && at < maxAttempts; at++) {
    const began = performance.now();
    const candidate = `${path}.${at}`;
    await encode(next, candidate, at);
    const last: Attempt = { ...next, size: (await stat(candidate)).size };
    attempts.push(last);
    await keepBest(attempts, candidate, path, bytes);
    if (last.size <= bytes && (last.size >= bytes * metFrom || saturated(attempts))) break;
    next = correct(attempts, last);
    const seconds = (performance.now() - began) / 1000;
    if (next && seconds * 1.2 >= run.timeLimit().max) return requireMetInTime(attempts, bytes);
  }
  requireMet(attempts, bytes);
}

/** How a video is compressed to a size. */
export interface SizedVideo {
  video: VideoStream;
  seconds: number;
  encoder: VideoEncoder;
  audioRate: number;
  /** The setting of the first attempt. */
  first: Setting;
  /** More bits per second are of no use. */
  ceiling: number;
  request(setting: Setting, preset?: Preset): MediaRequest;
}

/** Plans how a video of that many seconds is compressed to a size. */
export function sizedVideo(job: ProbedJob, bytes: number, seconds: number | undefined): SizedVideo {
  const { input, probe, target } = job;
  const { video } = probe;
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
  return {
    video,
    seconds,
    encoder,
    audioRate,
    first: firstAttempt(video, encoder, Math.min(bits - audioRate, ceiling)),
    ceiling,
    request: ({ bitRate, scale }, preset) =>
      requestOf(job, { subtitles: 'none', resize: scaled(video, scale), video: { encoder, preset, bitRate }, audio }),
  };
}

/** Encodes a video to a target size in two passes, then corrects the bit rate by the resulting size. */
async function fitVideo(job: ProbedJob, bytes: number, run: MediaRun): Promise<void> {
  const { onShare } = job;
  const sized = sizedVideo(job, bytes, await measuredSeconds(job, run));
  const { video, seconds, encoder, audioRate, first, ceiling, request } = sized;
  const preset = presetFor(job, request(first), encoder, seconds, run);
  const hasPasses = runsTwice(encoder, preset);
  const log = join(run.folder, 'passes');
  let passScale: number | undefined;
  const encode = async (setting: Setting, path: string, at: number) => {
    const encoding = { ...job, request: request(setting, preset) };
    if (hasPasses && passScale !== setting.scale) await firstPass(encoding, log, run);
    passScale = setting.scale;
    const passArgs = hasPasses ? secondPass(log) : [];
    const share = (done: number) => onShare(at === 0 ? 0.4 + done * 0.5 : 0.9);
    await transcode({ ...encoding, path, passArgs, onShare: share }, run);
  };
  await fitSize(job, bytes, run, first, encode, (attempts) => {
    const next = correct(attempts, bytes, (audioRate * seconds) / 8, video);
    return next && { ...next, bitRate: Math.min(next.bitRate, ceiling) };
  });
}

/** Returns whether an encoder uses two passes with a preset. */
export function runsTwice(encoder: VideoEncoder, preset: Preset): boolean {
  return videoEncoders[encoder].hasPasses === true && !encodesInRealTime(encoder, preset);
}

/** Returns the slowest preset that is chosen by default. Two passes give the best quality for a size. */
export function slowestPreset(encoder: VideoEncoder): Preset {
  // VP9 has no second pass in real-time mode.
  return encoder === 'libvpx-vp9' ? 'fast' : usualPreset;
}

/** A first pass takes about half the time of a second; usually, a second attempt meets the size. */
const twoPassRuns: Runs = { usual: 2.5, min: 1.5 };
const onePassRuns: Runs = { usual: 3, min: 1 };

/** Chooses the preset for all attempts together. */
function presetFor(
  { probe, input, target, options }: ProbedJob,
  request: MediaRequest,
  encoder: VideoEncoder,
  seconds: number,
  run: MediaRun,
): Preset {
  const wanted = wordOf(options, 'video_compress_speed');
  const { load } = plan(probe, mediaFormat(input.format), target, request, seconds);
  if (!load) throw new Error('A video with a known duration must have a load.');
  const choices = { writers: target.video?.encoders ?? [], hasOptions: true, slowest: slowestPreset(encoder) };
  return choosePreset(load, wanted, run.timeLimit(), choices, (preset) =>
    runsTwice(encoder, preset) ? twoPassRuns : onePassRuns,
  );
}

function requireMetInTime(attempts: Attempt[], bytes: number): void {
  if (attempts.some(({ size }) => size <= bytes)) return;
  throw new EngineError(
    `The file could not be compressed to ${megabytes(bytes)} in the time that a task has. Choose a faster preset, a lower resolution or a larger size, or trim the file.`,
  );
}

/** Runs the first pass with the same command as the second: any other counts frames differently. */
export async function firstPass(job: Transcode, log: string, run: MediaRun): Promise<void> {
  const path = `${job.path}.first`;
  const passArgs = [...(job.passArgs ?? []), '-pass', '1', '-passlogfile', log];
  await transcode({ ...job, path, passArgs, onShare: (done) => job.onShare(done * 0.4), discarded: true }, run);
  await rm(path, { force: true });
}

/** Returns the arguments of the pass after it. */
export function secondPass(log: string): string[] {
  return ['-pass', '2', '-passlogfile', log];
}

/** Reads raw streams once to measure their duration, which they do not declare. */
async function measuredSeconds({ input, probe }: ProbedJob, run: MediaRun): Promise<number | undefined> {
  const from = mediaFormat(input.format);
  if (from.knowsDuration || !from.untimed || !probe.video) return probe.seconds;
  const reading = [...openingArgs(from, input.path), '-map', `0:${probe.video.index}`, '-f', 'null', '-'];
  const { seconds } = await explained(input, () => runFfmpeg(reading, run));
  return seconds || undefined;
}

/** Below a number of bits per pixel, a smaller frame looks better than a blocky one. */
function firstAttempt(video: VideoStream, encoder: VideoEncoder, bitRate: number): Setting {
  const minBitsPerPixel = modernEncoders.includes(encoder) ? 0.012 : 0.04;
  const enough = video.width * video.height * Math.min(video.framesPerSecond ?? 25, 60) * minBitsPerPixel;
  const wanted = Math.max(bitRate, minBitRate);
  return { bitRate: wanted, scale: Math.max(minScale(video), Math.min(1, Math.sqrt(wanted / enough))) };
}

export function minScale(video: VideoStream): number {
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
function correct(attempts: Attempt[], bytes: number, soundBytes: number, video: VideoStream): Setting | undefined {
  const [now, before] = attempts.toReversed();
  if (!now) return undefined;
  const pictures = Math.max(now.size - soundBytes, now.size * 0.2);
  const wanted = Math.max(bytes * aim - soundBytes, bytes * 0.1);
  const factor = Math.max(0.2, Math.min(4, wanted / pictures));
  const bitRate = Math.max(minBitRate, now.bitRate * factor);
  const hardlyShrank = before?.scale === now.scale && before.size > bytes && now.size > before.size * 0.93;
  const stuck = now.size > bytes && (now.bitRate <= minBitRate || hardlyShrank);
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
    ...(bitRate < 40_000 ? { channels: 1, rate: bitRate < 14_000 ? 8000 : bitRate < 24_000 ? 16_000 : 24_000 } : {}),
  };
}

/** Encodes audio to a target size. */
async function fitAudio(job: ProbedJob, bytes: number, run: MediaRun): Promise<void> {
  const { probe, target } = job;
  const { seconds } = probe;
  if (seconds === undefined) {
    throw new EngineError(
      'The duration of the audio is unknown, so it cannot be compressed to a size. Compress it by bit rate instead.',
    );
  }
  const encoder = target.audio?.encoders[0];
  const channels = Math.max(1, Math.min(2, probe.audio[0]?.channels ?? 2));
  const maxBitRate = (encoder && maxAudioRate[encoder]) ?? 250_000 * channels;
  const within = (bitRate: number) => Math.min(maxBitRate, Math.max(minAudioRate, bitRate));
  const first = { bitRate: within((bytes * 8 * aim) / seconds), scale: 1 };
  const encode = ({ bitRate }: Setting, path: string, at: number) => {
    const onShare = (share: number) => job.onShare(at === 0 ? share * 0.8 : 0.9);
    return transcode({ ...job, request: requestOf(job, { audio: lowRate(bitRate, target) }), path, onShare }, run);
  };
  await fitSize(job, bytes, run, first, encode, (_, { bitRate, size }) => {
    if (size > bytes ? bitRate <= minAudioRate : bitRate >= maxBitRate) return undefined;
    return { bitRate: within(bitRate * Math.max(0.3, Math.min(3, (bytes * aim) / size))), scale: 1 };
  });
}
