import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { InputFile, OutputFile, Work } from '../runtime/engine.ts';
import { animate, decodeWebp, requireAnimation, requireFewInputFrames, steadyRate } from './animation.ts';
import { type MediaFormat, mediaFormat } from './formats.ts';
import { limits } from './limits.ts';
import { emptyRequest, type MediaRequest, planInTime, type Resize } from './plan.ts';
import { frameDelays, probeInput } from './probe.ts';
import { type MediaRun, runFfmpeg } from './programs.ts';
import { fitOf, takeStills } from './stills.ts';
import { outputOf, transcode } from './transcode.ts';
import { cutOf, numberOf, wordOf } from './values.ts';
import { verifyOutput } from './verify.ts';

/** Converts one input to the requested format. */
export async function convert(
  work: Work,
  input: InputFile,
  index: number,
  run: MediaRun,
  onShare: (share: number) => void,
): Promise<OutputFile[]> {
  const target = mediaFormat(work.outputFormat);
  const path = join(work.folder, `${index}.${target.ext}`);
  const { options } = work;
  if (input.format === 'webp') {
    await convertWebp(input, target, options, path, run);
    return [outputOf(input, target, path)];
  }
  let probe = await probeInput(input, run);
  if (target.kind === 'animation') {
    await animate({ input, probe, target, options, path, onShare }, run);
    return [outputOf(input, target, path)];
  }
  if (target.kind === 'still') return takeStills({ input, probe, target, options, stem: `${index}`, onShare }, run);
  let steady: number | undefined;
  if (mediaFormat(input.format).kind === 'animation') {
    const delays = await frameDelays(input, limits.inputFrames + 1, run);
    requireAnimation(delays.length);
    requireFewInputFrames(delays.length, probe.video);
    // A video shows its last frame as long as the others. At a rate that divides all delays, that matches the animation.
    steady = steadyRate(delays);
    probe = { ...probe, seconds: delays.reduce((sum, delay) => sum + delay, 0) / 1000 };
  }
  const wanted = convertRequest(options, target, probe.seconds, probe.video && probe.video.height > probe.video.width);
  const request = { ...wanted, framesPerSecond: wanted.framesPerSecond ?? steady };
  await transcode({ input, probe, target, request, path, onShare }, run);
  return [outputOf(input, target, path)];
}

async function convertWebp(
  input: InputFile,
  target: MediaFormat,
  options: OptionValues,
  path: string,
  run: MediaRun,
): Promise<void> {
  const pictures = await decodeWebp(input, run.folder);
  const request = convertRequest(options, target, pictures.probe.seconds, false);
  const planned = planInTime(
    pictures.probe,
    { ext: 'webp', kind: 'video', mediaType: 'image/webp', untimed: true },
    target,
    { ...request, copies: false },
    run.timeLimit(),
  );
  await runFfmpeg([...planned.before, ...pictures.args, ...planned.after, path], run);
  await verifyOutput(path, target, planned.expected, run);
}

/** Reads the options of a conversion. */
function convertRequest(
  options: OptionValues,
  target: MediaFormat,
  seconds: number | undefined,
  upright: boolean | undefined,
): MediaRequest {
  const bitRate = numberOf(options, 'video_bitrate');
  return {
    ...emptyRequest,
    cut: cutOf(options, ['trim_start', 'trim_end'], seconds),
    resize: resizeOf(options, upright ?? false),
    framesPerSecond: numberOf(options, 'fps'),
    aspect: aspectOf(wordOf(options, 'aspect')),
    video: {
      encoder: oneOf(wordOf(options, 'video_codec'), [...(target.video?.encoders ?? []), 'copy']),
      crf: numberOf(options, 'video_crf'),
      bitRate: bitRate === undefined ? undefined : bitRate * 1000,
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
  const bitRate = numberOf(options, 'audio_bitrate');
  return {
    encoder: oneOf(wordOf(options, 'audio_codec'), [...(target.audio?.encoders ?? []), 'copy', 'none']),
    bitRate: bitRate === undefined ? undefined : bitRate * 1000,
    rate: numberOf(options, 'audio_frequency') ?? numberOf(options, 'sample_rate'),
    channels: numberOf(options, 'channels'),
    volume: numberOf(options, 'volume'),
  };
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
