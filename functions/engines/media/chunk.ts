import type { MediaFormat } from './formats.ts';
import type { VideoStream } from './probe.ts';

/** A part of the pictures of a video, in seconds from the start of the file. */
export interface Chunk {
  /** Undefined for the first chunk. */
  from: number | undefined;
  /** Undefined for the last chunk. */
  to: number | undefined;
}

/** Decoded before a chunk, for filters with memory and for streams that need several pictures to recover after a seek. */
export const prerollSeconds = 3;
/** Decoded after a chunk: an open group of pictures stores its last ones after the next key frame. */
export const postrollSeconds = 2;
/** Longer gaps between pictures could make filters with memory differ at the borders of a chunk. */
export const maxGapSeconds = 1;

/**
 * Returns the arguments before the input of a chunk. The time stamps stay those of a whole run, and the input is never cut:
 * more is decoded than the chunk has.
 */
export function chunkInput({ from, to }: Chunk): string[] {
  const start = from === undefined ? 0 : Math.max(0, from - prerollSeconds);
  return [
    ...['-copyts', '-start_at_zero'],
    ...(start > 0 ? ['-ss', seconds(start)] : []),
    ...(to === undefined ? [] : ['-t', seconds(to + postrollSeconds - start)]),
  ];
}

/** Returns the filter that selects the pictures of a chunk by their time in the source. */
export function chunkSelection({ from, to }: Chunk): string {
  const after = from === undefined ? [] : [`gte(t,${seconds(from)})`];
  const before = to === undefined ? [] : [`lt(t,${seconds(to)})`];
  return `select='${[...after, ...before].join('*') || '1'}'`;
}

/** Returns how much of a video a chunk covers. */
export function chunkSeconds({ from = 0, to }: Chunk, duration: number | undefined): number | undefined {
  const end = to ?? duration;
  return end === undefined ? undefined : Math.max(0, end - from);
}

/**
 * Returns how the pictures of a chunk are timed. All chunks of a video use the same clock: frame numbers if its rate is
 * constant, and otherwise the ticks of the source, so that each picture keeps its time.
 */
export function chunkClock(
  video: VideoStream,
  rate: number | string | undefined,
  target: MediaFormat,
): { filters: string[]; args: string[] } {
  const tick = rate === undefined ? tickOf(video) : undefined;
  const shift = `setpts=round(PTS-${seconds(video.start ?? 0)}/TB)`;
  const isSteady = rate === undefined && video.steadyRate !== undefined;
  return {
    filters: [...(rate === undefined ? [shift] : []), ...(isSteady ? [`settb=${tick}`] : [])],
    args: [
      ...['-fps_mode:v:0', 'passthrough'],
      ...(tick === undefined ? [] : ['-enc_time_base:v:0', tick]),
      // The start of a chunk is stored in ticks of the file, which are milliseconds by default.
      ...(target.demuxer === 'mov' ? ['-movie_timescale', tick?.split('/')[1] ?? usualTimescale] : []),
    ],
  };
}

const usualTimescale = '90000';

function tickOf({ steadyRate, timeBase }: VideoStream): string {
  const [frames, per] = steadyRate?.split('/') ?? [];
  return frames && per ? `${per}/${frames}` : timeBase || `1/${usualTimescale}`;
}

/** The encoded pictures and sound that become one file with the rest of the source. */
export interface Joined {
  /** Path of the list of chunks. */
  list: string;
  /** Time of the first chunk by the clock of the chunks. */
  start: number;
  /** Arguments that open the sound, with its time stamps those of a whole run. */
  sound: string[];
}

/** Returns the arguments that open chunks as one input, at the time that their pictures have in a whole run. */
export function joinedInputs(
  { list, start, sound }: Joined,
  video: VideoStream,
  rate: number | string | undefined,
  { demuxer }: MediaFormat,
): string[] {
  const clockStart = rate === undefined ? (video.start ?? 0) : 0;
  return [
    ...['-itsoffset', seconds(start + clockStart), '-protocol_whitelist', 'file,pipe'],
    // All chunks have the same parameter sets, so these are not repeated before every key frame.
    ...['-format_whitelist', `concat,${demuxer}`, '-auto_convert', '0'],
    ...['-safe', '0', '-f', 'concat', '-i', list],
    ...sound,
  ];
}

/** Formats a time for ffmpeg. */
export function seconds(time: number): string {
  return time.toFixed(6);
}
