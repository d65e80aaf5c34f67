import { EngineError } from '../../runtime/engine.ts';
import { type Chunk, chunkInput, chunkSeconds, type Joined, joinedInputs } from '../chunk.ts';
import { audioArgs, channelCount, hevcTag, videoArgs } from '../codecs.ts';
import { codecOf } from '../encoders.ts';
import { type MediaFormat, mediaFormat } from '../formats.ts';
import { limits } from '../limits.ts';
import {
  assumedMatrix,
  emptyRequest,
  exactRate,
  fallbackRate,
  maxTracks,
  ofTrack,
  perSecond,
  pictureFilters,
  scalesNothing,
  seek,
  steadiestRate,
  textSubtitles,
} from '../plan.ts';
import type { AudioStream, Probe, SubtitleStream, VideoStream } from '../probe.ts';
import { audioSeconds, filterSeconds } from '../speeds.ts';
import { choosePreset, type Load, type Pictures, type TimeLimit } from '../time-limit.ts';
import { cutSeconds } from '../values.ts';
import { ladderOf, type Rendition } from './ladder.ts';
import type { StreamRequest } from './options.ts';
import { joinedSpriteFilters, planSprites, type Sprites, spriteFilters, thumbnailFilters } from './thumbnails.ts';

/** A part of a split run. */
export interface StreamPart {
  /** Encodes the pictures of a chunk only. */
  chunk?: Chunk;
  /** Encodes all sound only. */
  isSound?: boolean;
  /** Copies pictures from input 1 and sound from input 2. */
  joined?: Joined | undefined;
}

/** What ffmpeg is to write. */
export interface StreamPlan {
  before: string[];
  /** Arguments after the input. Outputs are in the folder in which ffmpeg runs. */
  after: string[];
  renditions: Rendition[];
  /** Frames per second of all renditions, as a number or fraction. */
  rate: number | string;
  sounds: { stream: AudioStream; channels: number }[];
  captions: SubtitleStream[];
  sprites: Sprites | undefined;
  seconds: number | undefined;
  /** The work, if the duration is known. */
  load: Load | undefined;
  warnings: string[];
}

/** Names of the files that ffmpeg writes. */
export const files = {
  video: (index: number) => `video-${index}.mp4`,
  sound: (index: number) => `audio-${index}.mp4`,
  captions: (index: number) => `subtitles-${index}.vtt`,
  sprites: 'sprite-%03d.jpg',
  part: 'part.mp4',
};

/** Key frames are this far apart or less, so that players can seek within a segment. */
const keySeconds = 2;
/** Half of the disk of a task: the ZIP takes as much again. */
export const maxStreamBytes = limits.outputBytes / 2;
/** Elementary streams and their sizes are those of an MP4. */
const mp4 = mediaFormat('mp4');

/** Plans the run of ffmpeg that writes all renditions of a file at once, or a part of it, in a preset that fits the time. */
export function planStream(
  probe: Probe,
  from: MediaFormat,
  target: MediaFormat,
  request: StreamRequest,
  limit: TimeLimit,
  part: StreamPart = {},
): StreamPlan {
  const { video } = probe;
  const { chunk, isSound = false, joined } = part;
  const known = probe.audio.filter(({ codec, channels }) => codec !== 'unknown' && channels > 0);
  if (!video && known.length === 0) throw new EngineError('The audio codec of the file is not supported.');
  const rate = video ? exactRate(Math.min(video.framesPerSecond ?? fallbackRate, steadiestRate)) : fallbackRate;
  const perSecondRate = perSecond(rate) ?? fallbackRate;
  const renditions = video ? ladderOf(video, request.heights, perSecondRate, request.encoder) : [];
  const seconds = cutSeconds(request.cut, probe.seconds);
  const sounds = known.slice(0, maxTracks).map((stream) => ({
    stream,
    // Every player has stereo, and few have more.
    channels: channelCount('aac', request.audio.channels ?? Math.min(stream.channels, 2), target),
  }));
  const texts = probe.subtitles.filter(({ codec }) => textSubtitles.includes(codec));
  const captions = request.hasSubtitles ? texts.slice(0, maxTracks) : [];
  requireFewFiles((seconds ?? 0) / request.segmentSeconds, renditions.length + sounds.length + captions.length);
  const [top] = renditions;
  const sprites = top && request.thumbnailSeconds > 0 ? planSprites(top, request.thumbnailSeconds, seconds) : undefined;
  const filters = video && top ? baseFilters(video, top, rate, { probe, from, target, request, chunk }) : [];
  const load = loadOf({
    ...{ video: isSound || joined ? undefined : video, renditions, rate: perSecondRate, filters, request },
    ...{ seconds: chunk ? chunkSeconds(chunk, seconds) : seconds, sounds: chunk || joined ? 0 : sounds.length },
  });
  const preset = presetFor(load, request, target, limit);
  const sought = chunk ? { before: chunkInput(chunk), after: [] } : seek(request.cut, from);
  const until = sought.after.slice(sought.after.indexOf('-t')).filter(() => sought.after.includes('-t'));
  const perOutput = [
    ...(chunk || sought.before.includes('-t') || until.length > 0 ? until : ['-t', String(limits.seconds)]),
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-dn', '-max_muxing_queue_size', '4096'],
    ...['-fs', String(maxStreamBytes)],
  ];
  const encoder = request.encoder === 'libx265' ? hevcArgs : ['-sc_threshold', '0', '-g', '100000'];
  const keys = request.segmentSeconds / Math.max(1, Math.round(request.segmentSeconds / keySeconds));
  const earlierKeys = Math.round((chunk?.from ?? 0) / keys);
  // ffmpeg counts the time for key frames from the first picture: the one at or after the start of the chunk.
  const firstTime = Math.ceil((chunk?.from ?? 0) * perSecondRate - 1e-6) / perSecondRate;
  const discarded = discardedSeconds(sought.after);
  const encoded = renditions.map(({ maxRate }) => [
    ...videoArgs(request.encoder, { crf: request.crf, maxRate, bufferSize: maxRate * 2, preset }, mp4),
    ...encoder,
    // By time and not by count, so that all renditions have key frames at the same times.
    ...['-force_key_frames', `expr:gte(t+${firstTime},(n_forced+${earlierKeys})*${keys})`, '-forced-idr', '1'],
  ]);
  const heard = sounds.map(({ stream, channels }) => [
    ...['-filter:a', [...discard('a', discarded), 'aresample=async=1:first_pts=0'].join(',')],
    ...audioArgs('aac', { bitRate: request.audio.bitRate, channels }, stream, mp4),
  ]);
  const copied = ['-c', 'copy', ...hevcTag(codecOf(request.encoder), mp4)];
  const outputs = (): string[] => [
    ...renditions.flatMap((_, index) => [
      ...['-map', joined ? `1:v:${index}` : `[v${index}]`, ...((joined ? copied : encoded[index]) ?? []), ...perOutput],
      // With `cmaf`, the first picture of a fragment is shown at the time of the fragment, as players expect.
      ...['-f', 'mp4', '-movflags', '+cmaf+frag_keyframe', files.video(index)],
    ]),
    ...sounds.flatMap(({ stream }, index) => [
      ...['-map', joined ? `2:a:${index}` : `0:${stream.index}`],
      ...((joined ? ['-c', 'copy'] : heard[index]) ?? []),
      ...perOutput,
      ...(stream.language && /^[a-z]{3}$/.test(stream.language)
        ? ['-metadata:s:a:0', `language=${stream.language}`]
        : []),
      // This muxer divides by time without drift. Its time stamps may be negative, so that the silence that the encoder adds
      // in front is marked.
      ...['-f', 'hls', '-hls_segment_type', 'fmp4', '-hls_flags', 'single_file', '-hls_list_size', '0'],
      ...['-hls_time', String(request.segmentSeconds), '-avoid_negative_ts', 'disabled'],
      ...['-hls_segment_filename', files.sound(index), `${files.sound(index)}.m3u8`],
    ]),
    ...captions.flatMap(({ index }, at) => [
      ...['-map', `0:${index}`, ...sought.after, '-c:s', 'webvtt', '-f', 'webvtt', files.captions(at)],
    ]),
    ...(sprites
      ? ['-map', '[sprites]', '-fps_mode', 'passthrough', '-c:v', 'mjpeg', '-q:v', '5', '-pix_fmt', 'yuvj420p']
      : []),
    ...(sprites ? ['-f', 'image2', files.sprites] : []),
  ];
  const chunkOutput = (): string[] => [
    ...encoded.flatMap((args, index) => ['-map', `[v${index}]`, ...ofTrack(`v:${index}`, args)]),
    ...(sprites
      ? ['-map', '[sprites]', ...ofTrack(`v:${encoded.length}`, ['-c', 'mjpeg', '-q', '2', '-pix_fmt', 'yuvj420p'])]
      : []),
    // The start of a chunk is stored in ticks of the file.
    ...['-fps_mode', 'passthrough', '-movie_timescale', typeof rate === 'string' ? rate.replace(/\/.*/, '') : '90000'],
    ...[...perOutput, '-f', 'mp4', files.part],
  ];
  const soundOutput = (): string[] => [
    ...sounds.flatMap(({ stream }, index) => [
      '-map',
      `0:${stream.index}`,
      ...ofTrack(`a:${index}`, heard[index] ?? []),
    ]),
    ...[...perOutput, '-f', 'mp4', files.part],
  ];
  return {
    before: sought.before,
    after: [
      ...(joined && video ? joinedInputs(joined, video, rate, mp4) : []),
      ...(video && top && !isSound ? graphs(video, filters, renditions, sprites, part) : []),
      ...(chunk ? chunkOutput() : isSound ? soundOutput() : outputs()),
    ],
    renditions,
    rate,
    sounds,
    captions,
    sprites,
    seconds,
    load,
    warnings: leftOut(probe, request, sounds.length, captions.length),
  };
}

/** Repeated options replace earlier ones, so this has what is set for every file. */
const hevcArgs = ['-x265-params', 'log-level=error:scenecut=0:open-gop=0:keyint=-1'];

function requireFewFiles(segments: number, tracks: number): void {
  if (segments * tracks <= limits.segments) return;
  throw new EngineError(
    `This would make ${Math.round(segments * tracks).toLocaleString('en')} segments; the maximum is ${limits.segments.toLocaleString('en')}. Increase segment_seconds or choose fewer renditions.`,
  );
}

interface Source {
  probe: Probe;
  from: MediaFormat;
  target: MediaFormat;
  request: StreamRequest;
  chunk: Chunk | undefined;
}

/** Returns the filters up to the frames of the largest rendition, which start at 0 and have a constant rate. */
function baseFilters(
  video: VideoStream,
  top: Rendition,
  rate: number | string,
  { probe, from, target, request, chunk }: Source,
): string[] {
  const side = top.width < top.height ? { width: top.width } : { height: top.height };
  const { filters } = pictureFilters(video, rate, {
    probe,
    from,
    target,
    request: { ...emptyRequest, cut: request.cut, resize: { ...side, fit: 'max' }, chunk },
  });
  return [
    ...discard('', discardedSeconds(seek(request.cut, from).after)),
    ...assumedMatrix(video),
    // All tracks start at the same time, also if the video starts later than the sound.
    ...filters.map((filter) =>
      filter.startsWith('fps=') && chunk?.from === undefined ? `${filter}:start_time=0` : filter,
    ),
  ];
}

/** Returns the seconds that are decoded and discarded, because the demuxer cannot seek exactly. */
function discardedSeconds(after: string[]): number {
  return Number(after[after.indexOf('-ss') + 1] ?? 0) * Number(after.includes('-ss'));
}

function discard(kind: '' | 'a', seconds: number): string[] {
  return seconds === 0 ? [] : [`${kind}trim=start=${seconds}`, `${kind}setpts=PTS-${seconds}/TB`];
}

/** Returns the arguments of the filters: the thumbnails of chunks are tiled when they are joined. */
function graphs(
  video: VideoStream,
  filters: string[],
  renditions: Rendition[],
  sprites: Sprites | undefined,
  { chunk, joined }: StreamPart,
): string[] {
  if (joined)
    return sprites
      ? ['-filter_complex', `[1:v:${renditions.length}]${joinedSpriteFilters(sprites).join(',')}[sprites]`]
      : [];
  const made = sprites && (chunk ? thumbnailFilters(sprites) : spriteFilters(sprites));
  return ['-filter_complex', graph(video, filters, renditions, made)];
}

/** Decodes once, and scales every rendition from the largest one. */
function graph(video: VideoStream, filters: string[], renditions: Rendition[], sprites: string[] | undefined): string {
  const pads = [...renditions.map((_, index) => `[s${index}]`), ...(sprites ? ['[st]'] : [])];
  return [
    `[0:${video.index}]${filters.join(',')},split=${pads.length}${pads.join('')}`,
    ...renditions.map(({ width, height }, index) => {
      const scaled = index === 0 ? 'null' : `scale=${width}:${height}:flags=bicubic,setsar=1`;
      return `[s${index}]${scaled}[v${index}]`;
    }),
    ...(sprites ? [`[st]${sprites.join(',')}[sprites]`] : []),
  ].join(';');
}

function loadOf(work: {
  video: VideoStream | undefined;
  renditions: Rendition[];
  rate: number;
  filters: string[];
  seconds: number | undefined;
  sounds: number;
  request: StreamRequest;
}): Load | undefined {
  const { video, renditions, rate, filters, seconds, request } = work;
  if (seconds === undefined) return undefined;
  const sound = audioSeconds('aac', seconds) * work.sounds;
  if (!video) return { seconds, megapixelsRead: 0, oneCoreSeconds: sound };
  const megapixelsOf = (size: { width: number; height: number }, frames: number) =>
    (size.width * size.height * frames * seconds) / 1_000_000;
  const megapixelsRead = megapixelsOf(video, video.framesPerSecond ?? fallbackRate);
  const [pictures, ...smaller] = renditions.map(
    ({ width, height }): Pictures => ({ writer: request.encoder, width, height, frames: rate * seconds }),
  );
  const [top] = renditions;
  const costly = filters.filter((filter) => !filter.startsWith('scale=') || !top || !scalesNothing(video, top));
  const scaled = top ? megapixelsOf(top, rate) * smaller.length : 0;
  return {
    seconds,
    ...(pictures ? { pictures: { ...pictures, smaller } } : {}),
    megapixelsRead,
    oneCoreSeconds: sound + filterSeconds(costly, megapixelsRead) + filterSeconds(['scale='], scaled),
  };
}

function presetFor(
  load: Load | undefined,
  request: StreamRequest,
  target: MediaFormat,
  limit: TimeLimit,
): string | undefined {
  if (!load) return request.preset;
  const preset = choosePreset(load, request.preset, limit, {
    writers: target.video?.encoders ?? [],
    hasOptions: true,
  });
  return load.pictures ? preset : undefined;
}

function leftOut(probe: Probe, { hasSubtitles }: StreamRequest, sounds: number, captions: number): string[] {
  const warnings: string[] = [];
  if (sounds < probe.audio.length)
    warnings.push(
      probe.audio.length > maxTracks
        ? `The first ${maxTracks} of ${probe.audio.length} audio tracks are kept, which is the maximum.`
        : `${probe.audio.length - sounds} of ${probe.audio.length} audio tracks are left out: their codec is not supported.`,
    );
  if (hasSubtitles && captions < probe.subtitles.length)
    warnings.push(
      `${probe.subtitles.length - captions} of ${probe.subtitles.length} subtitle tracks are left out: WebVTT holds text only, and at most ${maxTracks} tracks are kept.`,
    );
  if (probe.moreVideos) warnings.push(`The first of ${probe.moreVideos + 1} video tracks is kept.`);
  return warnings;
}
