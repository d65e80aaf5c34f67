import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { OutputFile } from '../runtime/engine.ts';
import { animate, decodeWebp, requireAnimation, requireFewInputFrames, steadyRate } from './animation.ts';
import { type MediaFormat, mediaFormat } from './formats.ts';
import { convertToStream } from './hls/stream.ts';
import { limits } from './limits.ts';
import { probePlainMovie } from './plain-movie.ts';
import { emptyRequest, type MediaRequest, planInTime, type Resize } from './plan.ts';
import { frameDelays, type Probe, probeInput, type VideoStream } from './probe.ts';
import { type MediaRun, runFfmpeg } from './programs.ts';
import { fitOf, takeStills } from './stills.ts';
import { type MediaJob, outputOf, transcode } from './transcode.ts';
import { cutOf, numberOf, thousandsOf, wordOf } from './values.ts';
import { verifyOutput } from './verify.ts';

/** Converts one input to the requested format. */
export async function convert(job: MediaJob, run: MediaRun): Promise<OutputFile[]> {
  const { input, target, options } = job;
  if (input.format === 'webp') {
    await convertWebp(job, run);
    return [outputOf(job)];
  }
  const isMovie = mediaFormat(input.format).demuxer === 'mov';
  let probe = await probeInput(input, run, target.kind === 'audio' && isMovie ? probePlainMovie : undefined);
  if (target.kind === 'animation') {
    await animate({ ...job, probe }, run);
    return [outputOf(job)];
  }
  if (target.kind === 'still') return takeStills({ ...job, probe }, run);
  if (target.kind === 'stream') return [await convertToStream({ ...job, probe }, run)];
  let steady: number | undefined;
  if (mediaFormat(input.format).kind === 'animation') {
    const delays = await frameDelays(input, limits.inputFrames + 1, run);
    requireAnimation(delays.length);
    requireFewInputFrames(delays.length, probe.video);
    // A video shows its last frame as long as the others. At a rate that divides all delays, that matches the animation.
    steady = steadyRate(delays);
    probe = { ...probe, seconds: delays.reduce((sum, delay) => sum + delay, 0) / 1000 };
  }
  const wanted = convertRequest(options, target, probe);
  const request = { ...wanted, framesPerSecond: wanted.framesPerSecond ?? steady };
  await transcode({ ...job, probe, request }, run);
  return [outputOf(job)];
}

async function convertWebp({ input, target, options, path }: MediaJob, run: MediaRun): Promise<void> {
  const { args, probe } = await decodeWebp(input, run.folder);
  const from: MediaFormat = { ext: 'webp', kind: 'video', mediaType: 'image/webp', untimed: true };
  // Its size is not rotated for portraits.
  const request = { ...convertRequest(options, target, { ...probe, video: undefined }), copies: false };
  const planned = planInTime(probe, from, target, request, run.timeLimit());
  await runFfmpeg([...planned.before, ...args, ...planned.after, path], run);
  await verifyOutput(path, target, planned.expected, run);
}

/** Reads the options of a conversion. */
export function convertRequest(options: OptionValues, target: MediaFormat, { seconds, video }: Probe): MediaRequest {
  return {
    ...emptyRequest,
    cut: cutOf(options, ['trim_start', 'trim_end'], seconds),
    resize: resizeOf(options, isUpright(video)),
    framesPerSecond: numberOf(options, 'fps'),
    aspect: aspectOf(wordOf(options, 'aspect')),
    video: {
      encoder: oneOf(wordOf(options, 'video_codec'), [...(target.video?.encoders ?? []), 'copy']),
      crf: numberOf(options, 'video_crf'),
      bitRate: thousandsOf(options, 'video_bitrate'),
      preset: wordOf(options, 'preset'),
      profile: wordOf(options, 'profile'),
    },
    audio: audioOf(options, target),
    subtitles: oneOf(wordOf(options, 'subtitles_mode'), ['none', 'hard', 'soft']) ?? 'soft',
    faststart: options.faststart !== false,
    strip: options.strip !== false,
    compatibility: oneOf(wordOf(options, 'compatibility'), ['web', 'any', 'archive']) ?? 'any',
  };
}

/** Reads the options of the audio. */
function audioOf(options: OptionValues, target: MediaFormat): MediaRequest['audio'] {
  return {
    encoder: oneOf(wordOf(options, 'audio_codec'), [...(target.audio?.encoders ?? []), 'copy', 'none']),
    bitRate: thousandsOf(options, 'audio_bitrate'),
    rate: numberOf(options, 'audio_frequency') ?? numberOf(options, 'sample_rate'),
    channels: numberOf(options, 'channels'),
    volume: numberOf(options, 'volume'),
  };
}

/** Returns whether a video is taller than wide. */
export function isUpright(video: VideoStream | undefined): boolean {
  return video !== undefined && video.height > video.width;
}

function resizeOf(options: OptionValues, upright: boolean): Resize | undefined {
  const width = numberOf(options, 'width');
  const height = numberOf(options, 'height');
  if (width !== undefined || height !== undefined) return { width, height, fit: fitOf(options) };
  const resolution = wordOf(options, 'video_resolution');
  return resolution === undefined ? undefined : presetSize(resolution, upright);
}

/** Reads a size such as `1280:720`, rotated for portrait videos. */
export function presetSize(resolution: string, upright: boolean): Resize {
  const [long = 0, short = 0] = resolution.split(/[:x]/).map(Number);
  return upright ? { width: short, height: long, fit: 'inside' } : { width: long, height: short, fit: 'inside' };
}

function aspectOf(text: string | undefined): [number, number] | undefined {
  if (text === undefined) return undefined;
  const [width = 1, height = 1] = text.split(':').map(Number);
  return [width, height];
}

/** Narrows a string to the known values. */
export function oneOf<Word extends string>(word: string | undefined, words: readonly Word[]): Word | undefined {
  return words.find((known) => known === word);
}
