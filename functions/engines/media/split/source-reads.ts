import { open } from 'node:fs/promises';
import { type ByteRange, bytesOf, coverageOf, mergedRanges } from '../../runtime/byte-ranges.ts';
import { EngineError } from '../../runtime/engine.ts';
import type { SourceReads } from '../../runtime/protocol.ts';
import { prerollSeconds } from '../chunk.ts';
import { mediaFormat } from '../formats.ts';
import type { Transcode } from '../transcode.ts';
import { lowerBound, type Packet, type Pictures } from './boundaries.ts';
import { readClusters } from './clusters.ts';
import { fetchedAfterSeconds, seekMarginSeconds } from './fetched.ts';

/** Programs read packets of this many bytes to find out how streams are encoded: their default. */
const probedBytes = 5_000_000;
/** Of a file whose pictures are not listed in an index. */
const firstMediaBytes = 8 * 1024 * 1024;
/** A request takes as long as the transfer of this many bytes. */
const gapBytes = 128 * 1024;
/** As many as the record of a task has room for. Sound has one range for every second or so. */
const maxRanges = { index: 2_000, sound: 8_000, join: 2_000 };
/** If more of the source is needed, it is read whole. */
const maxShare = 0.7;

/** A source, and what becomes of its subtitles. */
type Read = Pick<Transcode, 'input' | 'probe'> & { request?: Pick<Transcode['request'], 'subtitles'> };

/** The positions of the packets of a source, in the order in which they are stored. */
export class PacketPlaces {
  readonly #job: Read;
  /** Of each picture: its time, its first byte and the one after its last. */
  readonly #seconds: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  /** Numbers of the key frames. */
  readonly #keys: number[] = [];
  #shown = 0;
  readonly #sound: ByteRange[] = [];
  readonly #rest: ByteRange[] = [];
  #bytes = 0;
  #count = 0;
  #isUnknown = false;
  readonly #isFetched: ((from: number, to: number) => boolean) | undefined;

  constructor(job: Read) {
    this.#job = job;
    this.#isFetched = job.input.ranges && coverageOf(job.input.ranges);
  }

  get count(): number {
    return this.#count;
  }

  /** Throws if programs look into the packet when they open the source, and it was not fetched. */
  add({ stream, seconds, at, bytes, isKey, isHidden }: Packet): void {
    const { probe } = this.#job;
    const end = at + bytes;
    this.#count += 1;
    if (Number.isNaN(end)) this.#isUnknown = true;
    const isPicture = stream === probe.video?.index;
    const isSound = probe.audio.some(({ index }) => index === stream);
    const isProbed = this.#bytes < probedBytes && (isPicture || isSound);
    if (isProbed && this.#isFetched && !this.#isFetched(at, end))
      throw new EngineError('The pictures and the sound of the file are stored too far apart to read parts of it.');
    this.#bytes += bytes;
    if (!isPicture) {
      const others = isSound ? this.#sound : this.#rest;
      const last = others.at(-1);
      if (last?.[1] === at) last[1] = end;
      else others.push([at, end]);
      return;
    }
    if (isKey) this.#keys.push(this.#seconds.length);
    if (!isHidden) this.#shown += 1;
    this.#seconds.push(seconds);
    this.#from.push(at);
    this.#to.push(end);
  }

  /** Returns which bytes the parts need for chunks between these times. Returns undefined if they need the whole source. */
  async reads({ countBefore }: Pictures, times: number[]): Promise<SourceReads | undefined> {
    const { input, probe, request } = this.#job;
    if (this.#isUnknown) return undefined;
    const inside = times.slice(1, -1).map(countBefore);
    const common = { pictures: [0, ...inside, this.#shown] };
    if (input.ranges) {
      const drawn = request?.subtitles === 'hard' ? this.#rest : [];
      const index = mergedRanges([...input.ranges, ...drawn], gapBytes);
      if (index.length > maxRanges.index) return undefined;
      const sound = this.#bounded([...index, ...this.#sound], maxRanges.sound);
      const join = this.#bounded([...index, ...this.#rest], maxRanges.join);
      return {
        ...common,
        ...this.#ranges(times, (range) => range),
        index,
        ...(sound ? { sound } : {}),
        ...(join ? { join } : {}),
      };
    }
    // A demuxer of Matroska reads all clusters to find sound or subtitles.
    if (mediaFormat(input.format).demuxer !== 'matroska' || request?.subtitles === 'hard') return undefined;
    const file = await open(input.path);
    const clusters = await readClusters(file, input.size).finally(() => file.close());
    const [first] = clusters ?? [];
    if (!clusters || !first) return undefined;
    const starts = clusters.map(([from]) => from);
    const clustered = ([from, to]: ByteRange): ByteRange => [
      starts[Math.max(0, lowerBound(starts, from + 1) - 1)] ?? 0,
      clusters[Math.max(0, lowerBound(starts, to) - 1)]?.[1] ?? input.size,
    ];
    const opened: ByteRange = [0, Math.min(first[0] + firstMediaBytes, input.size)];
    const index = this.#bounded([opened, ...between(clusters, input.size)], maxRanges.index);
    if (!index) return undefined;
    const copies = request?.subtitles === 'soft' && probe.subtitles.length > 0;
    return { ...common, ...this.#ranges(times, clustered), index, ...(copies ? {} : { join: index }) };
  }

  /**
   * Returns the first byte of a chunk from each time, and the byte after the last of one to it. Pictures are stored out of
   * order, so everything between the first and the last one that a chunk decodes belongs to it.
   */
  #ranges(times: number[], placed: (range: ByteRange) => ByteRange): Pick<SourceReads, 'from' | 'to'> {
    const { input, probe } = this.#job;
    const shift = probe.start ?? 0;
    const firstBytes = minimaFrom(this.#from);
    const lastBytes = maximaTo(this.#to);
    const keyTimes = minimaFrom(this.#keys.map((key) => this.#seconds[key] ?? 0));
    const stillShown = minimaFrom(this.#seconds);
    return {
      from: times.map((time, place) => {
        const sought = place === 0 ? 0 : time - prerollSeconds;
        // The last key frame before it.
        const key = sought > 0 ? lowerBound(keyTimes, sought - seekMarginSeconds + shift) - 1 : -1;
        return placed([firstBytes[this.#keys[key] ?? 0] ?? 0, input.size])[0];
      }),
      to: times.map((time, place) => {
        const until = place === times.length - 1 ? Number.POSITIVE_INFINITY : time + fetchedAfterSeconds;
        // All pictures after it are shown later.
        const decoded = lowerBound(stillShown, until + shift);
        return Math.min(input.size, placed([0, lastBytes[decoded - 1] ?? input.size])[1]);
      }),
    };
  }

  /** Merges ranges until they are few enough. Returns undefined if nearly all of the source is in them. */
  #bounded(ranges: ByteRange[], max: number): ByteRange[] | undefined {
    const { size } = this.#job.input;
    let gap = gapBytes;
    let merged = mergedRanges(ranges, gap);
    while (merged.length > max) {
      gap *= 2;
      merged = mergedRanges(merged, gap);
    }
    return bytesOf(merged) > size * maxShare ? undefined : merged;
  }
}

/** Returns the lowest number from each place of a list on. */
function minimaFrom(numbers: number[]): number[] {
  return runningOf(numbers.toReversed(), Math.min).reverse();
}

/** Returns the highest number up to each place of a list. */
function maximaTo(numbers: number[]): number[] {
  return runningOf(numbers, Math.max);
}

function runningOf(numbers: number[], choose: (one: number, other: number) => number): number[] {
  const chosen: number[] = [];
  for (const number of numbers) chosen.push(choose(number, chosen.at(-1) ?? number));
  return chosen;
}

/** Returns what is around ascending ranges of a file. */
function between(ranges: ByteRange[], size: number): ByteRange[] {
  const ends = [0, ...ranges.map(([, to]) => to)];
  return [...ranges.map(([from]) => from), size].map((from, index): ByteRange => [ends[index] ?? 0, from]);
}
