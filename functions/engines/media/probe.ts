import { closeSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import { EngineError, type InputFile } from '../runtime/engine.ts';
import { checkContainer } from './container.ts';
import { explained } from './explain.ts';
import { type MediaFormat, mediaFormat } from './formats.ts';
import { limits } from './limits.ts';
import { type MediaRun, runFfprobe } from './programs.ts';
import { type TagNames, tagsOf } from './tags.ts';

interface Stream {
  index: number;
  codec: string;
  language?: string | undefined;
}

export interface VideoStream extends Stream {
  /** Profile of the codec, as ffprobe names it. */
  profile?: string | undefined;
  /** As displayed: after rotation, in stored pixels. */
  width: number;
  height: number;
  /** Width of a pixel divided by its height. */
  pixelAspect: number;
  rotated: boolean;
  framesPerSecond: number | undefined;
  /** The frame rate as a fraction, if the container declares that it is constant. */
  steadyRate?: string | undefined;
  /** Seconds of a tick of its time stamps, as a fraction. */
  timeBase?: string;
  /** Seconds from the start of the file to its first frame. */
  start?: number;
  /** Frames are rare, as in a slide show. Only a constant rate keeps the duration of each, including the last. */
  sparse?: boolean;
  pixelFormat: string;
  /** Its colour matrix, if declared. */
  matrix: string;
  interlaced: boolean;
  highDynamicRange: boolean;
}

export interface AudioStream extends Stream {
  rate: number;
  channels: number;
  bitsPerSample: number;
  bitRate: number | undefined;
  /** Seconds before it starts. */
  start?: number;
}

export type SubtitleStream = Stream;

/** The contents of a media file. */
export interface Probe {
  seconds: number | undefined;
  /** The earliest time stamp in seconds, if it is not zero. */
  start?: number;
  /** Bits per second of the whole file. */
  bitRate?: number;
  /** Duration of the complete file, if the file is truncated and `seconds` is that of the available part. */
  promisedSeconds?: number;
  video: VideoStream | undefined;
  audio: AudioStream[];
  subtitles: SubtitleStream[];
  /** Cover art, not a video. */
  cover: { index: number; codec: string } | undefined;
  /** Video tracks in addition to the first. */
  moreVideos?: number;
  /** Fonts and other files. */
  attachments?: number;
  tags?: TagNames;
}

const number = z.coerce.number().catch(Number.NaN);
const streamSchema = z.object({
  index: z.number(),
  codec_type: z.string().default(''),
  codec_name: z.string().default('unknown'),
  codec_tag_string: z.string().default(''),
  width: z.number().default(0),
  height: z.number().default(0),
  sample_aspect_ratio: z.string().default('1:1'),
  avg_frame_rate: z.string().default('0/0'),
  r_frame_rate: z.string().default('0/0'),
  pix_fmt: z.string().default(''),
  field_order: z.string().default(''),
  color_space: z.string().default(''),
  color_transfer: z.string().default(''),
  time_base: z.string().default(''),
  sample_rate: number.default(Number.NaN),
  channels: z.number().default(0),
  bits_per_sample: z.number().default(0),
  bits_per_raw_sample: number.default(Number.NaN),
  bit_rate: number.default(Number.NaN),
  duration: number.default(Number.NaN),
  start_time: number.default(0),
  profile: z.string().optional().catch(undefined),
  tags: z.record(z.string(), z.string()).catch({}).default({}),
  disposition: z.object({ attached_pic: z.number().default(0) }).default({ attached_pic: 0 }),
  side_data_list: z.array(z.object({ rotation: z.number().optional() })).default([]),
});
const probeSchema = z.object({
  format: z
    .object({
      duration: number.default(Number.NaN),
      bit_rate: number.default(Number.NaN),
      start_time: number.default(0),
      tags: z.record(z.string(), z.string()).catch({}).default({}),
    })
    .default({ duration: Number.NaN, bit_rate: Number.NaN, start_time: 0, tags: {} }),
  streams: z.array(streamSchema).default([]),
});
type RawStream = z.infer<typeof streamSchema>;

/**
 * Returns the arguments that open a file: only with the demuxer of the detected format,
 * so that a playlist with a media extension opens nothing.
 */
export function openingArgs(format: MediaFormat, path: string): string[] {
  const demuxer = readerOf(format, path);
  if (demuxer === undefined) throw new Error(`The catalogue lists ${format.ext}, which has no demuxer.`);
  // AVI embeds subtitles as whole files, which these two read.
  const readers = demuxer === 'avi' ? 'avi,srt,ass' : demuxer;
  return [
    ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', readers],
    ...['-max_streams', String(limits.streams), '-max_pixels', String(limits.pixels)],
    ...(format.ext === 'mjpeg' || format.ext === 'h264' || format.ext === 'hevc' ? ['-framerate', '25'] : []),
    ...(format.ext === 'g722' ? ['-ac', '1'] : []),
    ...['-f', demuxer, '-i', path],
  ];
}

/** Returns the demuxer of a file. Versions of a format may have different ones. */
function readerOf({ demuxer, demuxers }: MediaFormat, path: string): string | undefined {
  if (!demuxers) return demuxer;
  const file = openSync(path, 'r');
  try {
    const tag = Buffer.alloc(10);
    readSync(file, tag, 0, tag.length, 0);
    const mark = Buffer.alloc(8);
    readSync(file, mark, 0, mark.length, id3Bytes(tag));
    const version = Object.keys(demuxers).find((known) => mark.toString('latin1').startsWith(known));
    return version === undefined ? demuxer : demuxers[version];
  } finally {
    closeSync(file);
  }
}

/** Returns the length of a tag before the audio, as in MP3. Its size has seven bits per byte. */
export function id3Bytes(start: Buffer): number {
  if (start.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = start.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + size + ((start[5] ?? 0) & 0x10 ? 10 : 0);
}

/**
 * Probes an input file. Rejects one that would cost too much to decode. `quick` may do so without ffprobe, or return
 * `undefined`.
 */
export async function probeInput(
  input: InputFile,
  run: MediaRun,
  quick?: (input: InputFile) => Promise<Probe | undefined>,
): Promise<Probe> {
  if (input.size === 0) throw new EngineError('The file is empty.');
  const format = mediaFormat(input.format);
  const promisedBytes = await checkContainer(input, format);
  const probe = (await quick?.(input)) ?? (await explained(input, () => probeFile(format, input.path, run)));
  checkLimits(probe, input);
  if (promisedBytes === undefined || probe.seconds === undefined || probe.video) return probe;
  return { ...probe, promisedSeconds: (probe.seconds * promisedBytes) / input.size };
}

/** Probes a file. */
export async function probeFile(format: MediaFormat, path: string, run: MediaRun): Promise<Probe> {
  const { format: container, streams } = probeSchema.parse(await runFfprobe(openingArgs(format, path), run));
  const pictures = streams.filter(({ codec_type }) => codec_type === 'video');
  const cover = pictures.find(({ disposition }) => disposition.attached_pic === 1);
  const video = pictures.find(({ disposition }) => disposition.attached_pic !== 1);
  const durations = [container.duration, ...streams.map(({ duration }) => duration)].filter(
    (duration) => Number.isFinite(duration) && duration > 0,
  );
  return {
    // For bare images it is guessed from the bit rate, and far off.
    seconds: format.bare ? undefined : durations[0],
    ...(Number.isFinite(container.bit_rate) ? { bitRate: container.bit_rate } : {}),
    ...(container.start_time ? { start: container.start_time } : {}),
    video: video && readVideo(video, container.start_time || 0),
    audio: streams
      .filter(({ codec_type }) => codec_type === 'audio')
      .map((stream) => ({
        index: stream.index,
        codec: encrypted(stream) ? 'encrypted' : stream.codec_name,
        rate: soundRate(stream),
        channels: stream.channels,
        bitsPerSample: isDirectStream(stream) ? 24 : stream.bits_per_raw_sample || stream.bits_per_sample || 0,
        bitRate: Number.isFinite(stream.bit_rate) ? stream.bit_rate : undefined,
        start: stream.start_time || 0,
        language: languageOf(stream),
      })),
    subtitles: streams
      .filter(({ codec_type }) => codec_type === 'subtitle')
      .map((stream) => ({ index: stream.index, codec: stream.codec_name, language: languageOf(stream) })),
    cover: cover && { index: cover.index, codec: cover.codec_name },
    moreVideos: Math.max(0, pictures.filter(({ disposition }) => disposition.attached_pic !== 1).length - 1),
    attachments: streams.filter(({ codec_type }) => codec_type === 'attachment').length,
    tags: tagsOf(container.tags, streams),
  };
}

function languageOf({ tags }: RawStream): string | undefined {
  return tags.language === 'und' ? undefined : tags.language;
}

/** DSD has one bit per sample at millions of samples per second. Its audible content takes 24 bits. */
function isDirectStream({ codec_name }: RawStream): boolean {
  return codec_name.startsWith('dsd_');
}

/** These are decoded at rates above those of most players and formats. The higher frequencies contain only noise. */
const maxDirectRate = 176_400;

function soundRate(stream: RawStream): number {
  if (!Number.isFinite(stream.sample_rate)) return 0;
  return isDirectStream(stream) ? Math.min(stream.sample_rate, maxDirectRate) : stream.sample_rate;
}

/** Below this average frame rate, a video with irregular intervals is a slide show. */
const sparseRate = 10;
const steadyRate = 25;

function readVideo(stream: RawStream, start: number): VideoStream {
  const rotation = stream.side_data_list.find((data) => data.rotation !== undefined)?.rotation ?? 0;
  const sideways = Math.abs(rotation) % 180 === 90;
  const average = ratio(stream.avg_frame_rate);
  const base = ratio(stream.r_frame_rate);
  const sparse = average !== undefined && base !== undefined && average < sparseRate && base > average * 1.5;
  const pixelAspect = ratio(stream.sample_aspect_ratio.replace(':', '/')) ?? 1;
  return {
    index: stream.index,
    codec: encrypted(stream) ? 'encrypted' : stream.codec_name,
    width: sideways ? stream.height : stream.width,
    height: sideways ? stream.width : stream.height,
    pixelAspect: sideways ? 1 / pixelAspect : pixelAspect,
    profile: stream.profile,
    language: languageOf(stream),
    rotated: rotation % 360 !== 0,
    framesPerSecond: sparse ? Math.min(base, steadyRate) : (average ?? base),
    steadyRate: base !== undefined && stream.avg_frame_rate === stream.r_frame_rate ? stream.r_frame_rate : undefined,
    timeBase: stream.time_base,
    start: (stream.start_time || 0) - start,
    sparse,
    pixelFormat: stream.pix_fmt,
    matrix: stream.color_space,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order),
    highDynamicRange: ['smpte2084', 'arib-std-b67'].includes(stream.color_transfer),
  };
}

function encrypted(stream: RawStream): boolean {
  return ['encv', 'enca', 'drms', 'drmi', 'p608'].includes(stream.codec_tag_string);
}

function ratio(text: string): number | undefined {
  const [above, below] = text.split('/').map(Number);
  if (!above || !below || !Number.isFinite(above / below)) return undefined;
  return above / below;
}

function checkLimits(probe: Probe, input: InputFile): void {
  const { video, audio, seconds } = probe;
  if (!video && audio.length === 0) {
    throw new EngineError(`The file has no video or audio that could be read as ${input.format}.`);
  }
  if ([video?.codec, ...audio.map(({ codec }) => codec)].includes('encrypted')) {
    throw new EngineError('The file is protected by DRM and cannot be converted.');
  }
  if (seconds !== undefined && seconds > limits.seconds) {
    throw new EngineError(`The file is longer than ${limits.seconds / 3600} hours. Split it first.`);
  }
  if (!video) return;
  if (video.codec === 'unknown') throw new EngineError('The video codec of the file is not supported.');
  if (video.width <= 0 || video.height <= 0) {
    throw new EngineError('The video has no readable frame: it is damaged or its codec is not supported.');
  }
  if (video.width * video.height > limits.pixels || Math.max(video.width, video.height) > 16_384) {
    throw new EngineError(`The video is ${video.width} × ${video.height} pixels; the maximum is 7680 × 4320.`);
  }
  if ((video.framesPerSecond ?? 0) > limits.framesPerSecond) {
    throw new EngineError(
      `The video claims ${Math.round(video.framesPerSecond ?? 0)} frames per second; the maximum is ${limits.framesPerSecond}.`,
    );
  }
}

/** Reads the duration of each frame of an animation in milliseconds, up to a maximum number of frames. */
export async function frameDelays(input: InputFile, upTo: number, run: MediaRun): Promise<number[]> {
  const listed = z.object({ packets: z.array(z.object({ duration_time: number.default(0) })).default([]) });
  const { packets } = listed.parse(await readPackets(input, ['-show_entries', 'packet=duration_time'], upTo, run));
  return packets.map(({ duration_time }) => Math.round((duration_time || 0) * 1000));
}

/** Counts the frames of a video, up to a maximum. */
export async function countFrames(input: InputFile, upTo: number, run: MediaRun): Promise<number> {
  const counted = z.object({ streams: z.array(z.object({ nb_read_packets: number.default(0) })).default([]) });
  const { streams } = counted.parse(await readPackets(input, ['-count_packets'], upTo, run));
  return streams[0]?.nb_read_packets || 0;
}

function readPackets(input: InputFile, args: string[], upTo: number, run: MediaRun): Promise<unknown> {
  const opening = openingArgs(mediaFormat(input.format), input.path);
  const reading = ['-select_streams', 'v:0', ...args, '-read_intervals', `%+#${upTo}`, ...opening];
  return explained(input, () => runFfprobe(reading, run));
}
