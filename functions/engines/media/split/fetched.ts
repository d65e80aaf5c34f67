import { coverageOf } from '../../runtime/byte-ranges.ts';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import { type Chunk, postrollSeconds, prerollSeconds } from '../chunk.ts';
import { explained } from '../explain.ts';
import { mediaFormat } from '../formats.ts';
import { openingArgs, type Probe } from '../probe.ts';
import { listByFfprobe, type MediaRun } from '../programs.ts';
import { type Packet, packetEntries, packetOf } from './boundaries.ts';

/** How much earlier than a time a demuxer may seek. */
export const seekMarginSeconds = 0.5;
/** Pictures are stored in another order than they are shown. */
const reorderSeconds = 4;
/** How much after a chunk is fetched: a program that came to a hole in Matroska would search all of it for the next cluster. */
export const fetchedAfterSeconds = postrollSeconds + reorderSeconds + 1;

/**
 * Throws if a stream has a packet that was not fetched: programs would read zeros instead of it, and some decoders show them
 * without an error.
 */
export async function requireFetched(input: InputFile, streams: string, run: MediaRun): Promise<void> {
  if (!input.ranges) return;
  const isFetched = coverageOf(input.ranges);
  await listPackets(input, ['-select_streams', streams], run, ({ at, bytes }) => {
    if (Number.isNaN(at) || !isFetched(at, at + bytes)) throw notFetched(`${bytes} bytes at ${at} of ${streams}`);
  });
}

/** Throws if a chunk would decode pictures that were not fetched, or others than the survey found. */
export async function requirePictures(
  input: InputFile,
  { from, to }: Chunk,
  { video, start = 0 }: Pick<Probe, 'video' | 'start'>,
  pictures: number | undefined,
  run: MediaRun,
): Promise<void> {
  if (!input.ranges || !video) return;
  const isFetched = coverageOf(input.ranges);
  const sought = from === undefined ? 0 : from - prerollSeconds;
  const decodedUntil = start + (to === undefined ? Number.POSITIVE_INFINITY : to + postrollSeconds);
  const until = to === undefined ? '' : String(decodedUntil + reorderSeconds);
  const since = sought > 0 ? String(start + Math.max(0, sought - seekMarginSeconds / 2)) : '';
  let first: number | undefined;
  let found = 0;
  /** A hole since the last packet that is decoded. */
  let hole: string | undefined;
  const reading = ['-select_streams', String(video.index), '-read_intervals', `${since}%${until}`];
  await listPackets(input, reading, run, ({ seconds, at, bytes, isHidden }) => {
    first ??= seconds;
    if (Number.isNaN(at) || !isFetched(at, at + bytes)) hole ??= `${bytes} bytes at ${at} for ${seconds} s`;
    if (hole !== undefined && seconds < decodedUntil) throw notFetched(hole);
    const isOwn =
      seconds - start >= (from ?? Number.NEGATIVE_INFINITY) && seconds - start < (to ?? Number.POSITIVE_INFINITY);
    if (isOwn && !isHidden) found += 1;
  });
  // A video may begin later than its file.
  const latest = Math.max(sought, (video.start ?? 0) + 1);
  if (sought > 0 && !(first !== undefined && first - start <= latest)) throw notFetched(`first picture at ${first} s`);
  if (pictures !== undefined && found !== pictures) throw otherPictures(found, pictures);
}

/** Throws unless a chunk of a source that was read in part has as many pictures as the survey found. */
export function requireCount(input: InputFile, encoded: number, pictures: number | undefined): void {
  if (input.ranges && pictures !== undefined && encoded !== pictures) throw otherPictures(encoded, pictures);
}

function otherPictures(found: number, expected: number): EngineError {
  return new EngineError(
    `A part of the video has ${found} pictures instead of the ${expected} in its index: the file is damaged or incomplete.`,
  );
}

function notFetched(detail: string): EngineError {
  return new EngineError('A part of the video could not be found by its index.', { detail });
}

/**
 * Lists packets of a source. If it was read in part, ffprobe lists them as the index of the file has them, without looking into
 * them, and chapters as the packets that they are stored in.
 */
export async function listPackets(
  input: InputFile,
  selection: string[],
  run: MediaRun,
  onPacket: (packet: Packet) => void,
): Promise<void> {
  const format = mediaFormat(input.format);
  const unparsed = ['-fflags', '+noparse+nofillin', ...(format.demuxer === 'mov' ? ['-ignore_chapters', '1'] : [])];
  const reading = [
    ...(input.ranges ? unparsed : []),
    ...selection,
    ...packetEntries,
    ...openingArgs(format, input.path),
  ];
  const failures: unknown[] = [];
  await explained(input, () =>
    listByFfprobe(reading, run, (line) => {
      const packet = packetOf(line);
      if (!packet || failures.length > 0) return;
      try {
        onPacket(packet);
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}
