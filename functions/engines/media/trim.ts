import { EngineError, type OutputFile } from '../runtime/engine.ts';
import { type AudioEncoder, codecOf, type VideoEncoder } from './encoders.ts';
import { type MediaFormat, mediaFormat } from './formats.ts';
import { emptyRequest, type MediaRequest } from './plan.ts';
import { type Probe, probeInput } from './probe.ts';
import { hasEncoder, type MediaRun } from './programs.ts';
import { type MediaJob, outputOf, transcode } from './transcode.ts';
import { cutOf, numberOf } from './values.ts';

/** A trimmed video should look as before, so it is encoded at a higher quality than in a conversion. */
const faithfulCrf = 18;

/** Trims audio or video. */
export async function trim(job: MediaJob, run: MediaRun): Promise<OutputFile[]> {
  const { input, target, options } = job;
  const probe = await probeInput(input, run);
  const cut = cutOf(options, ['trim_start', 'trim_end'], probe.seconds);
  // If the streams cannot be cut without re-encoding, the cut is accurate.
  const fastCut =
    options.trim_mode === 'fast' &&
    quickReaders.includes(mediaFormat(input.format).demuxer ?? '') &&
    fitsUncoded(probe, target);
  const faithful = faithfulRequest(probe, job);
  const request: MediaRequest = cut ? { ...faithful, cut, fastCut } : { ...faithful, video: {}, audio: {} };
  await transcode({ ...job, probe, request }, run);
  return [outputOf(job)];
}

/** Demuxers that can seek and keep streams intact when cut there. */
const quickReaders = [
  ...['mov', 'matroska', 'avi', 'asf', 'flv', 'ogg', 'mxf', 'nut', 'ivf'],
  ...['wav', 'w64', 'flac', 'mp3', 'aac', 'aiff', 'ac3', 'eac3', 'dts', 'au', 'caf'],
];

function fitsUncoded(probe: Probe, target: MediaFormat): boolean {
  const { video, audio } = probe;
  const fits = (track: MediaFormat['video'] | MediaFormat['audio'], codec: string) =>
    track !== undefined && [...track.copies, ...track.encoders.map(codecOf)].includes(codec);
  return (
    (target.kind === 'audio' || !video || fits(target.video, video.codec)) &&
    (!target.audio || audio.every(({ codec }) => fits(target.audio, codec)))
  );
}

/** Requests the codec of the input at a visually lossless quality. In another format, only if it plays everywhere. */
function faithfulRequest(probe: Probe, { target, input, options }: MediaJob): MediaRequest {
  const web = input.format === target.ext ? undefined : target.web;
  const same = <Encoder extends VideoEncoder | AudioEncoder>(
    encoders: Encoder[] = [],
    codec: string | undefined,
    played: string[] | undefined,
  ) =>
    encoders.find(
      (known) => codecOf(known) === codec && hasEncoder(known) && (!played || played.includes(codecOf(known))),
    );
  const [sound] = probe.audio;
  const encoder = same(target.audio?.encoders, sound?.codec, web?.audio);
  const lossy = encoder !== undefined && ['aac', 'libmp3lame', 'libopus', 'wmav2', 'ac3', 'eac3'].includes(encoder);
  const bitRate = lossy && sound?.bitRate && sound.bitRate >= 32_000 ? sound.bitRate : undefined;
  return {
    ...emptyRequest,
    isFixed: true,
    strip: options.strip !== false,
    compatibility: web ? 'web' : 'any',
    video: { encoder: same(target.video?.encoders, probe.video?.codec, web?.video), crf: faithfulCrf },
    audio: { encoder, bitRate: bitRate && nearestBitRate(bitRate) },
  };
}

/** Returns the next higher step of constant bit rates, which keeps the quality. */
function nearestBitRate(bitRate: number): number {
  const steps = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
  return (steps.find((step) => step * 1000 >= bitRate * 0.98) ?? 640) * 1000;
}

/** Crops a video. */
export async function crop(job: MediaJob, run: MediaRun): Promise<OutputFile[]> {
  const { options } = job;
  const probe = await probeInput(job.input, run);
  const { video } = probe;
  if (!video) throw new EngineError('The file has no video to crop.');
  const [x, y] = [numberOf(options, 'x') ?? 0, numberOf(options, 'y') ?? 0];
  const width = numberOf(options, 'width') ?? video.width - x;
  const height = numberOf(options, 'height') ?? video.height - y;
  if (x + width > video.width || y + height > video.height || width < 2 || height < 2) {
    throw new EngineError(
      `The crop area of ${width} × ${height} pixels at ${x}, ${y} is not within the video, which is ${video.width} × ${video.height}.`,
    );
  }
  const box = { x: down(x), y: down(y), width: Math.max(2, down(width)), height: Math.max(2, down(height)) };
  const request: MediaRequest = { ...faithfulRequest(probe, job), audio: {}, box };
  await transcode({ ...job, probe, request }, run);
  return [outputOf(job)];
}

/** Chroma is subsampled, so a box starts and ends on even pixels. */
function down(length: number): number {
  return Math.floor(length / 2) * 2;
}
