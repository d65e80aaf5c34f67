import { type AudioEncoder, audioEncoders, type VideoEncoder, videoEncoders } from './encoders.ts';
import type { MediaFormat } from './formats.ts';
import { type Preset, presets, usualPreset } from './presets.ts';
import type { AudioStream } from './probe.ts';

/** Video encoding, independent of the encoder. */
export interface VideoQuality {
  /** Constant rate factor on x264's scale from 0 to 51. It is converted to the scale of each encoder. */
  crf?: number | undefined;
  /** Bits per second. Replaces the factor. */
  bitRate?: number | undefined;
  maxRate?: number | undefined;
  bufferSize?: number | undefined;
  preset?: string | undefined;
  profile?: string | undefined;
  /** A pixel format to keep in depth and chroma if the encoder supports it. Defaults to 8 bits and 4:2:0. */
  pixelFormat?: string | undefined;
}

/** Returns the arguments that encode video. */
export function videoArgs(encoder: VideoEncoder, quality: VideoQuality, target: MediaFormat): string[] {
  return [
    '-c:v',
    encoder,
    ...encoderArgs(encoder, quality),
    ...(encoder === 'mpeg4' && target.fourcc ? ['-tag:v', target.fourcc] : []),
    ...hevcTag(encoder === 'libx265' ? 'hevc' : '', target),
  ];
}

/** Apple's players open HEVC in their containers under this name only. */
export function hevcTag(codec: string, target: MediaFormat): string[] {
  return codec === 'hevc' && target.demuxer === 'mov' ? ['-tag:v', 'hvc1'] : [];
}

function encoderArgs(encoder: VideoEncoder, quality: VideoQuality): string[] {
  const { crf, preset } = quality;
  const speed = presets.findIndex((name) => name === (preset ?? usualPreset));
  const rate = rateArgs(quality);
  const pixels = ['-pix_fmt', keptPixels(encoder, quality)];
  switch (encoder) {
    case 'libx264':
      return [
        ...['-preset', preset ?? usualPreset],
        ...(rate ?? ['-crf', String(crf ?? 23), ...capArgs(quality)]),
        ...(quality.profile ? ['-profile:v', quality.profile] : []),
        ...pixels,
      ];
    case 'libx265':
      return [
        ...['-preset', preset ?? usualPreset, '-x265-params', 'log-level=error'],
        ...(rate ?? ['-crf', String(crf ?? 26), ...capArgs(quality)]),
        ...pixels,
      ];
    case 'libsvtav1':
      return [...(rate ?? ['-crf', String(wider(crf ?? 25))]), '-preset', String(12 - speed), ...pixels];
    case 'libvpx-vp9':
      return [
        // Slightly better by VMAF than H.264 at its default. At 29 they are equal, but smooth skies show blocks.
        ...(rate ?? ['-crf', String(wider(crf ?? 27)), '-b:v', '0', ...capArgs(quality)]),
        ...vpxSpeed(vp9Speeds, preset),
        ...['-row-mt', '1'],
        ...pixels,
      ];
    case 'libvpx':
      // VP8 requires a maximum bit rate with its factor. This one is above the needs of 4K.
      return [
        ...(rate ?? ['-crf', String(Math.max(4, Math.round(wider(crf ?? 20) / 2))), '-b:v', '20M']),
        ...vpxSpeed(vp8Speeds, preset),
        ...pixels,
      ];
    case 'libtheora':
      return [...(rate ?? ['-q:v', String(Math.max(0, Math.min(10, Math.round(13 - (crf ?? 23) / 3.8))))]), ...pixels];
    case 'mjpeg':
      return [...(rate ?? ['-q:v', quantizer(crf ?? 21)]), '-pix_fmt', 'yuvj420p'];
    case 'prores_ks':
      return ['-profile:v', '2', '-pix_fmt', 'yuv422p10le'];
    case 'ffv1':
      return ['-level', '3', ...pixels];
    case 'dvvideo':
      return [];
    case 'wrapped_avframe':
      return pixels;
    case 'flv':
    case 'rv20':
    case 'wmv2':
      // At finer steps they cannot encode hard edges, and ghosting appears.
      return [...(rate ?? ['-q:v', quantizer(Math.max(crf ?? 24, 22)), ...capArgs(quality)]), ...pixels];
    default:
      return [...(rate ?? ['-q:v', quantizer(crf ?? 21), ...capArgs(quality)]), ...pixels];
  }
}

/** Returns the pixel format that keeps most of another one. */
function keptPixels(encoder: VideoEncoder, { pixelFormat = '', profile }: VideoQuality): string {
  const { deepChromas: chromas } = videoEncoders[encoder];
  if (!chromas || profile !== undefined) return 'yuv420p';
  const wanted = /444|^(?:gbr|rgb|bgr|argb|abgr|0rgb|0bgr|pal8)/.test(pixelFormat)
    ? '444'
    : /422|yuyv|uyvy|^p2/.test(pixelFormat)
      ? '422'
      : '420';
  const isDeepSource = /(?:9|1[0246])[lb]e$/.test(pixelFormat);
  return `yuv${chromas.includes(wanted) ? wanted : '420'}p${isDeepSource ? '10le' : ''}`;
}

type VpxSpeeds = Record<Preset, [deadline: 'good' | 'realtime', cpuUsed: number]>;

/**
 * The default is the fastest setting, and takes as much CPU time as H.264 at its default: `npm run bench -- video` compares
 * them. At the same factor, speed 5 in real-time mode takes about twice the CPU time for a file that is 6 to 9 % smaller. Speed
 * 5 in good-quality mode takes five to eight times as much for one that is 18 to 26 % smaller; speed 4 takes as long as that and
 * uses more cores. AV1 at preset 12 takes less time for files of two thirds of the size, but many Apple devices cannot play it,
 * so a WebM gets it only on request.
 */
const vp9Speeds: VpxSpeeds = {
  ultrafast: ['realtime', 8],
  superfast: ['realtime', 8],
  veryfast: ['realtime', 8],
  faster: ['realtime', 5],
  fast: ['good', 4],
  medium: ['good', 2],
  slow: ['good', 1],
  slower: ['good', 0],
  veryslow: ['good', 0],
};

/** In real-time mode, a positive number would adapt to the speed of the machine. */
const vp8Speeds: VpxSpeeds = {
  ...vp9Speeds,
  ultrafast: ['realtime', -16],
  superfast: ['realtime', -8],
  veryfast: ['good', 5],
  faster: ['good', 4],
  fast: ['good', 3],
};

/** Returns whether an encoder runs in real-time mode, which has no second pass. */
export function encodesInRealTime(encoder: VideoEncoder, preset: Preset): boolean {
  const speeds = encoder === 'libvpx-vp9' ? vp9Speeds : encoder === 'libvpx' ? vp8Speeds : undefined;
  return speeds?.[preset][0] === 'realtime';
}

function vpxSpeed(speeds: VpxSpeeds, preset: string | undefined): string[] {
  const [deadline, cpuUsed] = speeds[presets.find((name) => name === preset) ?? usualPreset];
  return ['-deadline', deadline, '-cpu-used', String(cpuUsed)];
}

function rateArgs({ bitRate, maxRate, bufferSize }: VideoQuality): string[] | undefined {
  if (bitRate === undefined) return undefined;
  return ['-b:v', String(Math.round(bitRate)), ...capArgs({ maxRate, bufferSize })];
}

function capArgs({ maxRate, bufferSize }: VideoQuality): string[] {
  if (maxRate === undefined) return [];
  return ['-maxrate', String(Math.round(maxRate)), '-bufsize', String(Math.round(bufferSize ?? maxRate * 2))];
}

/** VP9 and AV1 have a scale up to 63, x264 up to 51. */
function wider(crf: number): number {
  return Math.min(63, Math.round((crf * 63) / 51));
}

/** Older encoders have a linear quantizer from 1 to 31. It doubles when the factor grows by six. */
function quantizer(crf: number): string {
  return String(Math.max(1, Math.min(31, Math.round(2 ** ((crf - 11) / 6)))));
}

/** Audio encoding, independent of the encoder. */
export interface AudioQuality {
  bitRate?: number | undefined;
  rate?: number | undefined;
  channels?: number | undefined;
  /** Forces a constant bit rate on encoders that would otherwise use less. */
  steady?: boolean | undefined;
}

/** Bit rates that libvorbis supports up to a sample rate, in kbit/s: for one channel, and for two. */
const vorbisBitRates: [rate: number, one: [number, number], two: [number, number]][] = [
  [8000, [8, 42], [12, 84]],
  [12_000, [12, 50], [16, 100]],
  [16_000, [16, 100], [24, 192]],
  [24_000, [16, 90], [32, 160]],
  [32_000, [32, 190], [36, 320]],
  [48_000, [32, 240], [48, 500]],
];

function vorbisBitRate(wanted: number, rate: number, channels: number): number {
  const [, one, two] = vorbisBitRates.find(([upTo]) => rate <= upTo) ?? [];
  const [min, max] = (channels === 1 ? one : channels === 2 ? two : undefined) ?? [0, Number.POSITIVE_INFINITY];
  return Math.round(Math.min(max * 1000, Math.max(min * 1000, wanted)));
}

/** Returns the sample rate of an output: the requested one, or the nearest above that it supports. */
export function sampleRate(encoder: AudioEncoder, wanted: number, target: MediaFormat): number {
  // FLV's list applies to MP3. AAC has its own.
  const rates = (encoder === 'aac' ? undefined : target.audio?.rates) ?? audioEncoders[encoder].rates;
  if (!rates) return wanted;
  return rates.find((rate) => rate >= wanted) ?? rates.at(-1) ?? wanted;
}

/** Returns the number of channels of an output. */
export function channelCount(encoder: AudioEncoder, wanted: number, target: MediaFormat): number {
  const min = target.audio?.minChannels ?? 1;
  return Math.max(min, Math.min(wanted, target.audio?.channels ?? audioEncoders[encoder].channels ?? 8));
}

/** Returns the arguments that encode audio. */
export function audioArgs(
  encoder: AudioEncoder,
  quality: AudioQuality,
  source: AudioStream,
  target: MediaFormat,
): string[] {
  const rate = sampleRate(encoder, quality.rate ?? (source.rate || 44_100), target);
  const channels = channelCount(encoder, quality.channels ?? (source.channels || 2), target);
  const format = source.bitsPerSample > 16 ? undefined : audioEncoders[encoder].sixteenBits;
  return [
    ...['-c:a', encoder, '-ar', String(rate), '-ac', String(channels)],
    ...bitRateArgs(encoder, quality, channels, rate, target.kind === 'audio'),
    ...(format ? ['-sample_fmt', format] : []),
    ...(encoder === 'dca' ? ['-strict', '-2'] : []),
  ];
}

/** Returns the encoder of uncompressed audio for more than 16 bits, if the source has them and the format supports them. */
export function deepEncoder(encoder: AudioEncoder, source: AudioStream, target: MediaFormat): AudioEncoder {
  const deeper = encoder === 'pcm_s16le' ? 'pcm_s24le' : encoder === 'pcm_s16be' ? 'pcm_s24be' : encoder;
  return source.bitsPerSample > 16 && target.audio?.encoders.includes(deeper) ? deeper : encoder;
}

function bitRateArgs(
  encoder: AudioEncoder,
  quality: AudioQuality,
  channels: number,
  rate: number,
  alone: boolean,
): string[] {
  const { bitRate } = quality;
  const steady = quality.steady && encoder === 'libopus' ? ['-vbr', 'off'] : [];
  const asked = bitRate === undefined ? undefined : ['-b:a', String(Math.round(bitRate)), ...steady];
  const perChannel = alone ? 96_000 : 64_000;
  const usual = ['-b:a', String(Math.min(perChannel * Math.max(channels, 1), 512_000))];
  switch (encoder) {
    case 'aac':
    case 'libopus':
      return asked ?? usual;
    case 'libmp3lame':
      // MP3 has constant rates only in steps. An average rate reaches those in between.
      return bitRate === undefined
        ? ['-b:a', alone ? '192k' : '128k']
        : ['-b:a', String(Math.round(bitRate)), ...(quality.steady ? ['-abr', '1'] : [])];
    case 'libvorbis':
      // Its bit rate modes reject low sample rates. The quality mode supports all.
      return bitRate === undefined ? ['-q:a', '5'] : ['-b:a', String(vorbisBitRate(bitRate, rate, channels))];
    case 'ac3':
    case 'eac3':
      return asked ?? ['-b:a', channels > 2 ? '448k' : '192k'];
    case 'mp2':
      return asked ?? ['-b:a', channels === 1 ? '96k' : rate < 32_000 ? '128k' : '192k'];
    case 'wmav2':
      return asked ?? ['-b:a', '128k'];
    case 'libspeex':
      return asked ?? ['-q:a', '8'];
    case 'dca':
      return ['-b:a', channels > 2 ? '1411200' : '768000'];
    case 'wavpack':
      // Blocks of one second at any rate. The default would be eight seconds at telephone rates.
      return ['-frame_size', String(Math.min(rate, 131_072))];
    default:
      return [];
  }
}
