import { EngineError } from '../runtime/engine.ts';
import {
  type Chunk,
  chunkClock,
  chunkInput,
  chunkSeconds,
  chunkSelection,
  type Joined,
  joinedInputs,
} from './chunk.ts';
import {
  type AudioQuality,
  audioArgs,
  channelCount,
  deepEncoder,
  hevcTag,
  sampleRate,
  type VideoQuality,
  videoArgs,
} from './codecs.ts';
import { type AudioEncoder, codecOf, type VideoEncoder, videoEncoders } from './encoders.ts';
import type { MediaFormat } from './formats.ts';
import { limits } from './limits.ts';
import type { AudioStream, Probe, SubtitleStream, VideoStream } from './probe.ts';
import { audioSeconds, filterSeconds } from './speeds.ts';
import { choosePreset, type Load, type TimeLimit } from './time-limit.ts';
import { type Cut, cutSeconds } from './values.ts';

export type Fit = 'max' | 'crop' | 'scale' | 'inside';

export interface Resize {
  width?: number | undefined;
  height?: number | undefined;
  /** `max` never enlarges, `inside` may, `crop` fills and crops the excess, `scale` is exact and may distort. */
  fit: Fit;
}

export interface Size {
  width: number;
  height: number;
}

interface Conversion {
  probe: Probe;
  from: MediaFormat;
  target: MediaFormat;
  request: MediaRequest;
}

/** A requested conversion, in the engine's own terms. */
export interface MediaRequest {
  cut?: Cut | undefined;
  box?: (Size & { x: number; y: number }) | undefined;
  resize?: Resize | undefined;
  framesPerSecond?: number | undefined;
  /** Display aspect ratio. */
  aspect?: [number, number] | undefined;
  video: VideoQuality & { encoder?: VideoEncoder | 'copy' | undefined };
  audio: AudioQuality & { encoder?: AudioEncoder | 'copy' | 'none' | undefined; volume?: number | undefined };
  subtitles: 'none' | 'hard' | 'soft';
  faststart: boolean;
  /** Removes tags that identify a place or a device. */
  strip: boolean;
  /** `web` copies only streams that play everywhere, `any` all that the format holds; `archive` also keeps depth, chroma and lossless audio. */
  compatibility: Compatibility;
  /** Whether streams that already fit are copied. */
  copies: boolean;
  /** Cuts at existing key frames, without decoding. */
  fastCut?: boolean | undefined;
  /** Whether the operation has no options for preset, codec and resolution. */
  isFixed?: boolean | undefined;
  /** Whether the output is a part of a split run, whose duration is that of no whole file. */
  isPart?: boolean | undefined;
  /** Encodes a part of the pictures only. */
  chunk?: Chunk | undefined;
  /** Copies pictures from input 1 and sound from input 2, which were encoded before. */
  joined?: Joined | undefined;
}

export type Compatibility = 'web' | 'any' | 'archive';

/** Arguments for ffmpeg, and the expected result. */
export interface Plan {
  /** Arguments before the input. */
  before: string[];
  /** Arguments after the input, up to the output's path. */
  after: string[];
  copiesSomething: boolean;
  expected: Expected;
  /** Seconds of the output, which may be a part of the expected ones. */
  seconds: number | undefined;
  /** The encoding work, if the duration is known. */
  load: Load | undefined;
  /** Warnings about content that is not in the output. */
  warnings: string[];
  /** Languages of the tracks, to be written if the muxer does not. */
  languages?: (string | undefined)[];
}

export interface Expected {
  video: Size | undefined;
  audio: boolean;
  /** A line of subtitles may last longer than the cut. */
  subtitles: boolean;
  seconds: number | undefined;
}

export const emptyRequest: MediaRequest = {
  video: {},
  audio: {},
  subtitles: 'soft',
  faststart: true,
  strip: true,
  compatibility: 'any',
  copies: true,
};

/** File name of the extracted subtitles. ffmpeg runs in the task's folder, so that no path is part of a filter. */
export const subtitleFile = 'subtitles.srt';

export const textSubtitles = ['subrip', 'ass', 'ssa', 'mov_text', 'webvtt', 'text'];
const bitmapSubtitles = ['dvd_subtitle', 'hdmv_pgs_subtitle', 'dvb_subtitle'];
export const maxTracks = 8;
/** Visually lossless H.264. */
const archiveCrf = 16;
/** Higher values are the clock of the container, not a frame rate. */
export const steadiestRate = 60;
export const fallbackRate = 25;
export const maxRate = 120;

/** Plans a conversion with a preset that fits the time, and throws if none does. */
export function planInTime(
  probe: Probe,
  from: MediaFormat,
  target: MediaFormat,
  request: MediaRequest,
  limit: TimeLimit,
  countedSeconds?: number,
): Plan {
  const planned = plan(probe, from, target, request, countedSeconds);
  if (!planned.load) return planned;
  const choices = { writers: target.video?.encoders ?? [], hasOptions: !request.isFixed };
  const preset = choosePreset(planned.load, request.video.preset, limit, choices);
  if (!planned.load.pictures) return planned;
  return plan(probe, from, target, { ...request, video: { ...request.video, preset } }, countedSeconds);
}

/** Plans the ffmpeg run for a conversion. Pure, so that it can be tested without files. */
export function plan(
  probe: Probe,
  from: MediaFormat,
  target: MediaFormat,
  request: MediaRequest,
  countedSeconds?: number,
): Plan {
  const video = target.kind === 'audio' ? undefined : probe.video;
  const conversion = { probe, from, target, request };
  const sounds = soundsFor(probe, target, request);
  requireStreams(probe, sounds, target);
  const { chunk, joined } = request;
  const seconds = cutSeconds(request.cut, probe.seconds);
  requireRoom(target, seconds, video, sounds[0]);
  const pictures = video && planVideo(video, conversion);
  const encoded = joined ? [] : sounds.filter((stream) => !copiesAudio(stream, from, target, request));
  const audio = sounds.flatMap((stream, track) => [
    ...['-map', joined ? `2:a:${track}` : `0:${stream.index}`],
    ...ofTrack(`a:${track}`, encoded.includes(stream) ? encodeAudio(stream, target, request) : ['-c:a', 'copy']),
  ]);
  const sought = chunk ? { before: chunkInput(chunk), after: [] } : seek(request.cut, from, request.fastCut);
  const covered = chunk ? chunkSeconds(chunk, seconds) : seconds;
  const cover = coverArgs(probe, target, pictures ? 1 : 0);
  const subtitles = subtitlesFor(probe, target, request);
  return {
    before: sought.before,
    after: [
      ...(pictures?.inputs ?? []),
      ...(sought.after.includes('-t') ? [] : ['-t', String(limits.seconds)]),
      ...sought.after,
      ...(pictures ? pictures.args : cover.length > 0 ? [] : ['-vn']),
      ...(sounds.length > 0 ? audio : ['-an']),
      // DV stores a part of the audio with every frame.
      ...(target.geometry === 'dv' && encoded.length > 0 ? ['-shortest'] : []),
      ...subtitleArgs(subtitles, target),
      ...cover,
      ...attachmentArgs(probe, from, target, request),
      ...['-dn', '-max_muxing_queue_size', '4096', '-fs', String(limits.outputBytes)],
      ...(request.fastCut ? ['-avoid_negative_ts', 'make_zero'] : []),
      ...metadataArgs(probe, request),
      ...movieFlags(probe, target, request),
      ...(target.muxerArgs ?? []),
      ...['-f', target.muxer ?? ''],
    ],
    copiesSomething: !joined && ((pictures?.copied ?? false) || encoded.length < sounds.length),
    expected: { video: pictures?.size, audio: sounds.length > 0, subtitles: subtitles.length > 0, seconds },
    seconds: covered,
    load: loadOf(covered ?? cutSeconds(request.cut, countedSeconds), pictures?.encoding, {
      encoder: encoded[0] && soundEncoder(target, request, encoded[0]),
      tracks: encoded.length,
    }),
    warnings: leftOut(conversion, { sounds, subtitles, hasCover: cover.length > 0 }),
    ...(target.muxer === 'mov'
      ? { languages: [...(video ? [video] : []), ...sounds, ...subtitles].map(({ language }) => language) }
      : {}),
  };
}

/** Applies ffmpeg options, which come in pairs, to one track. */
export function ofTrack(track: string, args: string[]): string[] {
  return args.map((arg, at) => (at % 2 === 0 ? `${arg.replace(/:[av]$/, '')}:${track}` : arg));
}

/** Keeps all tags but some, and the recording date, which ffmpeg keeps only if tags are mapped. */
function metadataArgs({ tags }: Probe, { strip }: MediaRequest): string[] {
  const removed = [...(tags?.ofContainer ?? []), ...(strip ? (tags?.identifying ?? []) : [])];
  const removedTracks = strip ? (tags?.identifyingTracks ?? []) : [];
  return [
    ...['-map_metadata', '0'],
    ...removed.flatMap((name) => ['-metadata', `${name}=`]),
    ...removedTracks.flatMap((name) => ['-metadata:s', `${name}=`]),
  ];
}

function movieFlags({ tags }: Probe, target: MediaFormat, { faststart, strip }: MediaRequest): string[] {
  if (target.demuxer !== 'mov' || target.ext === 'ismv') return [];
  // The default tags of iTunes lack fields for those of phones and cameras.
  const keepsAll = !strip && target.kind === 'video' && (tags?.identifying.length ?? 0) > 0;
  const flags = [...(faststart ? ['faststart'] : []), ...(keepsAll ? ['use_metadata_tags'] : [])];
  return flags.length > 0 ? ['-movflags', flags.map((flag) => `+${flag}`).join('')] : [];
}

/** Returns warnings about tracks of the input that are not in the output. */
function leftOut(
  { probe, target, request }: Conversion,
  kept: { sounds: AudioStream[]; subtitles: SubtitleStream[]; hasCover: boolean },
): string[] {
  const warnings: string[] = [];
  const sounds = probe.audio.length;
  if (target.audio && request.audio.encoder !== 'none' && kept.sounds.length < sounds) {
    warnings.push(
      !target.manyTracks
        ? `${target.ext} holds one audio track: the first of ${sounds} is kept. Convert to ${target.kind === 'audio' ? 'mka' : 'mkv'} to keep all.`
        : sounds > maxTracks
          ? `The first ${maxTracks} of ${sounds} audio tracks are kept, which is the maximum.`
          : `${sounds - kept.sounds.length} of ${sounds} audio tracks are left out: their codec is not supported.`,
    );
  }
  if (probe.cover && !kept.hasCover) {
    const others = target.kind === 'audio' ? 'mp3, m4a or flac' : 'mp4';
    warnings.push(
      `The cover picture is left out: it cannot be stored in ${target.ext}. Convert to ${others} to keep it.`,
    );
  }
  if (target.kind !== 'video') return warnings;
  const subtitles = probe.subtitles.length;
  if (request.subtitles === 'soft' && kept.subtitles.length < subtitles) {
    const which =
      kept.subtitles.length === 0
        ? 'The subtitles'
        : `${subtitles - kept.subtitles.length} of ${subtitles} subtitle tracks`;
    warnings.push(
      request.fastCut
        ? 'The subtitles are left out. Set trim_mode to accurate to keep them.'
        : `${which} are left out: ${target.ext} cannot hold them. Convert to mkv to keep them, or set subtitles_mode to hard to burn the first into the video.`,
    );
  }
  if (probe.moreVideos) warnings.push(`The first of ${probe.moreVideos + 1} video tracks is kept.`);
  return warnings;
}

interface Encoding {
  encoder: VideoEncoder;
  width: number;
  height: number;
  rate: number;
  source: { width: number; height: number; rate: number };
  filters: string[];
  bitsPerPixel: number | undefined;
}

function loadOf(
  seconds: number | undefined,
  encoding: Encoding | undefined,
  audio: { encoder: AudioEncoder | undefined; tracks: number },
): Load | undefined {
  if (seconds === undefined || (!encoding && audio.tracks === 0)) return undefined;
  const sound = audio.encoder === undefined ? 0 : audioSeconds(audio.encoder, seconds) * audio.tracks;
  if (!encoding) return { seconds, megapixelsRead: 0, oneCoreSeconds: sound };
  const { encoder, width, height, rate, source, filters, bitsPerPixel } = encoding;
  const megapixelsRead = (source.width * source.height * source.rate * seconds) / 1_000_000;
  return {
    seconds,
    pictures: { writer: encoder, width, height, frames: rate * seconds, bitsPerPixel },
    megapixelsRead,
    oneCoreSeconds: sound + filterSeconds(filters, megapixelsRead),
  };
}

function soundsFor(probe: Probe, target: MediaFormat, request: MediaRequest): AudioStream[] {
  if (!target.audio || request.audio.encoder === 'none') return [];
  const known = probe.audio.filter(({ codec, channels }) => codec !== 'unknown' && channels > 0);
  return known.slice(0, target.manyTracks ? maxTracks : 1);
}

function requireStreams(probe: Probe, sounds: AudioStream[], target: MediaFormat): void {
  if (target.kind === 'audio' && sounds.length === 0) {
    throw new EngineError(
      probe.audio.length === 0
        ? `The file has no audio, so it cannot be converted to ${target.ext}.`
        : 'The audio codec of the file is not supported.',
    );
  }
  if (target.kind !== 'audio' && !probe.video && (sounds.length === 0 || !target.audio)) {
    throw new EngineError(`The file has no video, so it cannot be converted to ${target.ext}.`);
  }
}

/** Throws if the output would fill the disk. An hour of silence takes a kilobyte in one format and a gigabyte in another. */
function requireRoom(
  target: MediaFormat,
  seconds: number | undefined,
  video: VideoStream | undefined,
  sound: AudioStream | undefined,
): void {
  if (seconds === undefined) return;
  const encoder = target.audio?.encoders[0];
  const uncompressed = encoder !== undefined && /^(?:pcm|flac|alac|wavpack|tta)/.test(encoder);
  const soundBytes = uncompressed && sound ? sound.rate * channelCount(encoder, sound.channels, target) * 2 : 0;
  const frames = Math.min(video?.framesPerSecond ?? fallbackRate, 120);
  const pictureBytes =
    !video || target.video?.encoders[0] !== 'wrapped_avframe' ? 0 : video.width * video.height * 1.5 * frames;
  const steadyBytes = video && target.geometry === 'dv' ? 3_600_000 : 0;
  if ((soundBytes + pictureBytes + steadyBytes) * seconds > limits.outputBytes) {
    throw new EngineError(
      `As ${target.ext}, the file would be larger than ${limits.outputBytes / 1_000_000_000} GB. Trim it or choose a compressed format.`,
    );
  }
}

/** How long before a cut an inexact demuxer seeks. */
const looseSeconds = 10;

/** Splits a cut into the position to seek to, and the time to decode and discard from there. */
export function seek(cut: Cut | undefined, from: MediaFormat, fastCut = false): Record<'before' | 'after', string[]> {
  if (!cut) return { before: [], after: [] };
  const length = cut.end === undefined ? [] : ['-t', String(cut.end - cut.start)];
  const untimed = from.untimed || from.bare;
  const margin = fastCut ? 0 : untimed ? cut.start : from.looseSeek ? Math.min(looseSeconds, cut.start) : 0;
  // A raw stream does not support seeking, not even to its start.
  if (cut.start === 0) return { before: length, after: [] };
  if (margin === 0) return { before: ['-ss', String(cut.start), ...length], after: [] };
  const sent = cut.start - margin;
  return { before: sent > 0 ? ['-ss', String(sent)] : [], after: ['-ss', String(margin), ...length] };
}

function planVideo(
  video: VideoStream,
  conversion: Conversion,
): { args: string[]; inputs?: string[]; copied: boolean; size: Size; encoding?: Encoding } {
  const { probe, from, target, request } = conversion;
  if (!target.video) throw new Error(`${target.ext} does not support video.`);
  const map = ['-map', `0:${video.index}`];
  if (copiesVideo(video, from, target, request)) {
    return {
      args: [...map, ...ofTrack('v:0', ['-c:v', 'copy', ...hevcTag(video.codec, target)])],
      copied: true,
      size: { width: video.width, height: video.height },
    };
  }
  if (request.video.encoder === 'copy') {
    throw new EngineError(
      `The video (${video.codec}) cannot be copied into ${target.ext} with these options. Omit video_codec to re-encode it.`,
    );
  }
  const encoder = request.video.encoder ?? target.video.encoders[0];
  if (!encoder) throw new Error(`${target.ext} has no encoder.`);
  const rate = frameRate(video, encoder, conversion);
  const isArchived = request.compatibility === 'archive';
  const isMapped = video.highDynamicRange && !(isArchived && videoEncoders[encoder].deepChromas);
  const { filters, size } = pictureFilters({ ...video, highDynamicRange: isMapped }, rate, conversion);
  if (request.joined) {
    const copied = ['-c:v', 'copy', ...hevcTag(codecOf(encoder), target)];
    const inputs = joinedInputs(request.joined, video, rate, target);
    return { args: ['-map', '1:v:0', ...ofTrack('v:0', copied)], inputs, copied: true, size };
  }
  const clock = request.chunk && chunkClock(video, rate, target);
  const quality = isArchived
    ? { ...request.video, crf: request.video.crf ?? archiveCrf, pixelFormat: video.pixelFormat }
    : request.video;
  const burnt = request.subtitles === 'hard' ? probe.subtitles[0] : undefined;
  const bitmap = burnt && bitmapSubtitles.includes(burnt.codec);
  const text = burnt && textSubtitles.includes(burnt.codec) ? [`subtitles=f=${subtitleFile}`] : [];
  const chain = [...filters, ...text, ...(clock?.filters ?? [])].join(',');
  return {
    args: [
      ...(bitmap
        ? ['-filter_complex', `[0:${video.index}][0:${burnt.index}]overlay=eof_action=pass,${chain}[v]`, '-map', '[v]']
        : [...map, '-filter:v:0', chain]),
      ...ofTrack('v:0', videoArgs(encoder, quality, target)),
      ...(clock?.args ?? (rate === undefined ? ['-fpsmax:v:0', String(maxRate)] : [])),
    ],
    copied: false,
    size,
    encoding: {
      encoder,
      ...size,
      rate: perSecond(rate) ?? Math.min(video.framesPerSecond ?? fallbackRate, maxRate),
      source: { width: video.width, height: video.height, rate: video.framesPerSecond ?? fallbackRate },
      bitsPerPixel: bitsPerPixel(probe, video),
      filters: scalesNothing(video, size) ? filters.filter((filter) => !filter.startsWith('scale=')) : filters,
    },
  };
}

const efficientCodecs = ['h264', 'hevc', 'vp8', 'vp9', 'av1'];

/** Returns the bits per pixel of a video, if its codec spends them only on visible detail. */
function bitsPerPixel({ bitRate }: Probe, { codec, width, height, framesPerSecond }: VideoStream): number | undefined {
  if (bitRate === undefined || !efficientCodecs.includes(codec)) return undefined;
  return bitRate / (width * height * (framesPerSecond ?? fallbackRate));
}

/** ffmpeg does not scale frames that already have the size. */
export function scalesNothing(video: VideoStream, size: Size): boolean {
  return video.width === size.width && video.height === size.height && video.pixelFormat.startsWith('yuv');
}

/** Returns a frame rate as a number. */
export function perSecond(rate: number | string | undefined): number | undefined {
  if (typeof rate !== 'string') return rate;
  const [above = 0, below = 1] = rate.split('/').map(Number);
  return above / below;
}

function copiesVideo(video: VideoStream, from: MediaFormat, target: MediaFormat, request: MediaRequest): boolean {
  if (request.fastCut) return true;
  const { encoder, crf, bitRate, maxRate, preset, profile } = request.video;
  const { box, resize, framesPerSecond, aspect, cut } = request;
  const changes = [box, resize, framesPerSecond, aspect, crf, bitRate, maxRate, preset, profile, cut];
  const wanted = encoder === undefined || encoder === 'copy' ? undefined : codecOf(encoder);
  return (
    (request.copies || encoder === 'copy') &&
    changes.every((change) => change === undefined) &&
    (wanted === undefined || wanted === video.codec) &&
    request.subtitles !== 'hard' &&
    (request.compatibility !== 'web' || encoder === 'copy' || playsEverywhere(video, target, wanted)) &&
    (target.video?.copies.includes(video.codec) ?? false) &&
    (from.untimed !== true || from.ext === target.ext) &&
    (!video.rotated || (target.keepsRotation ?? false))
  );
}

/** Profiles of H.264 that phones decode. */
const webProfiles = ['Constrained Baseline', 'Baseline', 'Main', 'High'];

/** Returns whether browsers and phones play a video unchanged. Not required if another codec is requested. */
function playsEverywhere(video: VideoStream, { web }: MediaFormat, wanted: string | undefined): boolean {
  if (!web || (wanted !== undefined && !web.video.includes(wanted))) return true;
  const { codec, pixelFormat, profile, interlaced } = video;
  // Browsers show both fields of an interlaced frame at once, with combing in motion.
  if (!web.video.includes(codec) || interlaced) return false;
  if (codec === 'h264' && profile !== undefined && !webProfiles.includes(profile)) return false;
  return /^yuvj?a?420p$/.test(pixelFormat) || (codec === 'av1' && pixelFormat === 'yuv420p10le');
}

function frameRate(
  video: VideoStream,
  encoder: VideoEncoder,
  { target, request }: Conversion,
): number | string | undefined {
  const own = request.framesPerSecond ?? video.framesPerSecond;
  if (target.geometry) return isNtsc(own) ? '30000/1001' : 25;
  if (request.framesPerSecond !== undefined) return request.framesPerSecond;
  if (!videoEncoders[encoder].isSteady && !video.sparse) return undefined;
  return exactRate(Math.min(own ?? fallbackRate, steadiestRate));
}

/** Returns a frame rate for ffmpeg. Those of television are fractions without an exact decimal. */
export function exactRate(rate: number): number | string {
  for (const whole of [24, 30, 60]) {
    if (Math.abs(rate - (whole * 1000) / 1001) < 0.005) return `${whole * 1000}/1001`;
  }
  return Math.round(rate * 1000) / 1000;
}

function isNtsc(rate: number | undefined): boolean {
  return rate !== undefined && [23.976, 29.97, 30, 59.94, 60].some((known) => Math.abs(rate - known) < 0.02);
}

/**
 * Returns the filter that sets a frame rate. It avoids the delay of `-r`, and keeps at least one frame even if the whole video
 * is shorter than half a frame at the new rate.
 */
export function rateFilter(rate: number | string, seconds: number | undefined): string {
  const lasts = (seconds ?? 0) * (perSecond(rate) ?? fallbackRate);
  return `fps=${rate}${lasts < 0.5 ? ':eof_action=pass' : ''}`;
}

/** Returns the filter chain of the video, and the size of the resulting frames. */
export function pictureFilters(
  video: VideoStream,
  rate: number | string | undefined,
  { probe, target, request }: Conversion,
): { filters: string[]; size: Size } {
  const filters: string[] = [];
  if (video.interlaced && !target.geometry) filters.push('yadif=deint=interlaced');
  // First, because later filters would not know the duration of the last frame.
  if (rate !== undefined) filters.push(rateFilter(rate, cutSeconds(request.cut, probe.seconds)));
  // After the filters that need the pictures before and after, and before those that cost more.
  if (request.chunk) filters.push(chunkSelection(request.chunk));
  if (hasAlpha(video.pixelFormat)) filters.push(...onWhite);
  if (video.highDynamicRange) filters.push(...toStandardRange);
  const { box } = request;
  if (box) filters.push(`crop=${box.width}:${box.height}:${box.x}:${box.y}`);
  const source = box ? { ...video, width: box.width, height: box.height } : video;
  if (target.geometry) return { filters: [...filters, ...televisionFilters(source, rate)], size: televisionSize(rate) };
  const { scaled, size, square } = resizeTo(source, request.resize, target.video?.multiple);
  const matrix = matrixFor(video, size);
  filters.push(`scale=${scaled.width}:${scaled.height}${matrix && isRgb(video) ? `:out_color_matrix=${matrix}` : ''}`);
  if (matrix) filters.push(`setparams=colorspace=${matrix}`);
  if (scaled.width !== size.width || scaled.height !== size.height) filters.push(`crop=${size.width}:${size.height}`);
  if (request.aspect) filters.push(`setdar=${request.aspect[0]}/${request.aspect[1]}`);
  else if (square) filters.push('setsar=1');
  return { filters, size };
}

/** For videos without a declared colour matrix, players assume BT.709 from this height on, and BT.601 below. */
const largeHeight = 720;

function usualMatrix({ width, height }: Size): 'bt709' | 'smpte170m' {
  return Math.min(width, height) >= largeHeight ? 'bt709' : 'smpte170m';
}

function hasNoMatrix({ matrix, codec, pixelFormat }: VideoStream): boolean {
  return matrix === '' && codec !== 'mjpeg' && /^yuva?4/.test(pixelFormat);
}

/** Returns whether a video is decoded to RGB, or has to be for its transparency. */
function isRgb({ pixelFormat }: VideoStream): boolean {
  return hasAlpha(pixelFormat) || /^(?:gbr|rgb|bgr|0rgb|0bgr|x2)/.test(pixelFormat);
}

/** Returns the colour matrix that an output has to declare: if it is converted from RGB, or if players would guess wrong. */
function matrixFor(video: VideoStream, size: Size): string | undefined {
  if (isRgb(video)) return usualMatrix(size);
  const usual = usualMatrix(video);
  return hasNoMatrix(video) && usual !== usualMatrix(size) ? usual : undefined;
}

/** Returns the filter that sets the colour matrix of a video without one, if ffmpeg would guess wrong. */
export function assumedMatrix(video: VideoStream): string[] {
  return hasNoMatrix(video) && usualMatrix(video) === 'bt709' ? ['setparams=colorspace=bt709'] : [];
}

/** Returns the filter for images with colours stored as in a video: always with the matrix of BT.601. */
export function pictureMatrix(ext: string): string[] {
  return ext === 'jpg' || ext === 'webp' ? ['scale=out_color_matrix=bt601'] : [];
}

/** Returns whether a pixel format has transparency. */
export function hasAlpha(pixelFormat: string): boolean {
  return /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ya\d|pal8)/.test(pixelFormat);
}

/** Chooses a decoder that keeps the transparency of VP8 and VP9, which ffmpeg's own decoders drop. */
export function alphaDecoder({ codec }: { codec: string }): string[] {
  const decoders: Record<string, string[]> = { vp8: ['-c:v', 'libvpx'], vp9: ['-c:v', 'libvpx-vp9'] };
  return decoders[codec] ?? [];
}

/** Puts white behind transparent pixels, because video has no transparency. (The filter for boxes crashes on these frames.) */
export const onWhite = onColour('#ffffff');

/** Puts a colour such as `#ff8800` behind transparent pixels. */
export function onColour(colour: string): string[] {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const fill = `lutrgb=r=${red}:g=${green}:b=${blue}:a=255`;
  return ['format=rgba', `split[behind][before];[behind]${fill}[colour];[colour][before]overlay=format=auto`];
}

/**
 * HDR video, as phones record it, looks washed out on SDR screens. This curve keeps everything darker than white paper: 203
 * cd/m² by BT.2408 becomes 235 of 255. Brighter values share the rest.
 */
export const toStandardRange = [
  'zscale=t=linear:npl=100',
  'format=gbrpf32le',
  'zscale=p=bt709',
  'tonemap=tonemap=mobius:desat=0',
  'zscale=t=bt709:m=bt709:r=tv',
  'format=yuv420p',
];

/** Returns the size of the output frames. */
export function resizeTo(
  video: Size & { pixelAspect: number },
  resize: Resize | undefined,
  multiple = 2,
): { scaled: Size; size: Size; square: boolean } {
  const even = ({ width, height }: Size) => ({ width: roundTo(width, multiple), height: roundTo(height, multiple) });
  const { width, height, fit } = resize ?? {};
  if (width === undefined && height === undefined) return { scaled: even(video), size: even(video), square: false };
  const shown = { width: video.width * video.pixelAspect, height: video.height };
  const by = (factor: number) => even({ width: shown.width * factor, height: shown.height * factor });
  const across = (width ?? Number.POSITIVE_INFINITY) / shown.width;
  const down = (height ?? Number.POSITIVE_INFINITY) / shown.height;
  if (width !== undefined && height !== undefined && (fit === 'scale' || fit === 'crop')) {
    const size = even({ width, height });
    if (fit === 'scale') return { scaled: size, size, square: true };
    const filled = by(Math.max(across, down));
    const scaled = { width: Math.max(filled.width, size.width), height: Math.max(filled.height, size.height) };
    return { scaled, size, square: true };
  }
  const inside = by(Math.min(across, down, fit === 'max' ? 1 : Number.POSITIVE_INFINITY));
  return { scaled: inside, size: inside, square: true };
}

/** Chroma is subsampled, so sizes are even. */
function roundTo(length: number, multiple = 2): number {
  return Math.max(multiple, Math.round(length / multiple) * multiple);
}

function televisionSize(rate: number | string | undefined): Size {
  return { width: 720, height: rate === 25 ? 576 : 480 };
}

/** Fits a video into a television frame, with bars if its aspect ratio is neither 4:3 nor 16:9. */
function televisionFilters(video: VideoStream, rate: number | string | undefined): string[] {
  const { width, height } = televisionSize(rate);
  const shape = (video.width * video.pixelAspect) / video.height;
  const wide = Math.abs(shape - 16 / 9) < Math.abs(shape - 4 / 3);
  const frame = wide ? 16 / 9 : 4 / 3;
  const inner =
    shape > frame
      ? { width, height: roundTo((height * frame) / shape) }
      : { width: roundTo((width * shape) / frame), height };
  return [
    `scale=${inner.width}:${inner.height}`,
    `pad=${width}:${height}:-1:-1`,
    `setdar=${wide ? '16/9' : '4/3'}`,
    rate === 25 ? 'format=yuv420p' : 'format=yuv411p',
  ];
}

function copiesAudio(stream: AudioStream, from: MediaFormat, target: MediaFormat, request: MediaRequest): boolean {
  if (request.fastCut) return true;
  const { encoder, bitRate, rate, channels, volume } = request.audio;
  const changes = [bitRate, rate, channels, volume, request.cut];
  const wanted = encoder === undefined || encoder === 'copy' || encoder === 'none' ? undefined : codecOf(encoder);
  const first = target.audio?.encoders[0];
  const fits =
    first !== undefined &&
    (stream.codec === 'aac' || sampleRate(first, stream.rate, target) === stream.rate || !target.audio?.rates) &&
    stream.channels <= (target.audio?.channels ?? stream.channels);
  const copied =
    (request.copies || encoder === 'copy') &&
    changes.every((change) => change === undefined) &&
    (wanted === undefined || wanted === stream.codec) &&
    (target.audio?.copies.includes(stream.codec) ?? false) &&
    (!target.untimed || (stream.start ?? 0) < audibleDelay) &&
    (request.compatibility !== 'web' ||
      encoder !== undefined ||
      !target.web ||
      target.web.audio.includes(stream.codec)) &&
    fits &&
    from.ext !== 'rm' &&
    from.ext !== 'ra';
  if (encoder === 'copy' && !copied) {
    throw new EngineError(
      `The audio (${stream.codec}) cannot be copied into ${target.ext} with these options. Omit audio_codec to re-encode it.`,
    );
  }
  return copied;
}

/** In seconds: more than audio and video may be out of sync. */
const audibleDelay = 0.05;

const losslessCodec = /^(?:pcm|flac|alac|wavpack|tta|ape|truehd|mlp|dsd)/;
const losslessEncoders: AudioEncoder[] = ['flac', 'alac'];

function soundEncoder(
  target: MediaFormat,
  { audio: { encoder }, compatibility }: MediaRequest,
  source: AudioStream,
): AudioEncoder | undefined {
  if (encoder !== undefined && encoder !== 'copy' && encoder !== 'none') return encoder;
  const encoders = target.audio?.encoders ?? [];
  const isKept = compatibility === 'archive' && losslessCodec.test(source.codec);
  const lossless = isKept ? encoders.find((known) => losslessEncoders.includes(known)) : undefined;
  const [usual] = encoders;
  return lossless ?? (usual && deepEncoder(usual, source, target));
}

/** Per channel: more than is audible. */
const archiveBitRate = 160_000;

function encodeAudio(source: AudioStream, target: MediaFormat, request: MediaRequest): string[] {
  const { encoder: _, volume, ...quality } = request.audio;
  const chosen = soundEncoder(target, request, source);
  if (!chosen) throw new Error(`${target.ext} has no audio encoder.`);
  if (request.compatibility === 'archive')
    quality.bitRate ??= Math.min(archiveBitRate * Math.max(1, source.channels), 512_000);
  // Keeps audio in sync that starts later than the video or has gaps. Without time stamps, silence is inserted first.
  const inStep = [
    `aresample=async=1${target.untimed && target.kind === 'video' ? ':first_pts=0' : ''}`,
    ...(target.geometry === 'dv' ? ['apad'] : []),
  ];
  return [
    ...['-filter:a', [...(volume === undefined ? [] : [`volume=${volume}`]), ...inStep].join(',')],
    ...audioArgs(chosen, quality, source, target),
  ];
}

function coverArgs({ cover }: Probe, target: MediaFormat, track: number): string[] {
  if (!target.cover || !cover || !['mjpeg', 'png'].includes(cover.codec)) return [];
  return ['-map', `0:${cover.index}`, `-c:v:${track}`, 'copy', `-disposition:v:${track}`, 'attached_pic'];
}

/** Matroska stores the fonts of its subtitles as attachments. */
function attachmentArgs(probe: Probe, from: MediaFormat, target: MediaFormat, request: MediaRequest): string[] {
  const keeps = from.demuxer === 'matroska' && target.muxer === 'matroska' && request.subtitles === 'soft';
  return keeps && probe.attachments && target.kind === 'video' ? ['-map', '0:t', '-c:t', 'copy'] : [];
}

function subtitlesFor(probe: Probe, target: MediaFormat, request: MediaRequest): SubtitleStream[] {
  const { subtitles } = target;
  if (request.subtitles !== 'soft' || !subtitles || request.fastCut) return [];
  return probe.subtitles.filter(
    ({ codec }) => textSubtitles.includes(codec) || (subtitles === 'any' && bitmapSubtitles.includes(codec)),
  );
}

function subtitleArgs(kept: SubtitleStream[], { subtitles }: MediaFormat): string[] {
  if (kept.length === 0) return ['-sn'];
  return kept.flatMap(({ index, codec }, at) => {
    const coded =
      subtitles !== undefined && subtitles !== 'any'
        ? subtitles
        : codec === 'mov_text' || codec === 'text'
          ? 'srt'
          : 'copy';
    return ['-map', `0:${index}`, `-c:s:${at}`, coded];
  });
}

/** Returns the text subtitles that must be extracted before they can be burned into the video. */
export function subtitlesToExtract(probe: Probe, request: MediaRequest): number | undefined {
  const [first] = probe.subtitles;
  return request.subtitles === 'hard' && first && textSubtitles.includes(first.codec) ? first.index : undefined;
}
