/** Enough for twelve hours at 120 frames per second. */
export const maxPackets = 5_200_000;
/** As many as the record of a task has room for. */
export const maxBoundaries = 4_000;
/** Key frames that are nearer to the picture before are no boundaries: a boundary is between the two. */
const minGapSeconds = 0.004;
/** How long a boundary is before its key frame. Times are rounded differently by each program. */
const leadSeconds = 0.005;
/** How far pictures may be from the grid of a constant rate, in frames. */
const maxOffGrid = 0.25;

/** What the packets of a video say about its pictures, in seconds from the start of the file. */
export interface Pictures {
  start: number;
  /** The time of the last picture. */
  last: number;
  maxGap: number;
  boundaries: number[];
  /** Whether each picture is at the time that a constant rate gives it. */
  isOnGrid: boolean;
  /** Returns the number of pictures before a time. */
  countBefore(time: number): number;
}

/** A packet as ffprobe lists it. Values that the file does not have are `NaN`. */
export interface Packet {
  stream: number;
  seconds: number;
  bytes: number;
  at: number;
  isKey: boolean;
  /** Not shown: it is before the start of the edit list. */
  isHidden: boolean;
}

/** The fields of a packet that `packetOf` reads. ffprobe lists them in its own order. */
export const packetEntries = ['-show_entries', 'packet=stream_index,pts_time,size,pos,flags'];

/** Reads a line of ffprobe. Returns undefined for the empty lines after packets with side data. */
export function packetOf(line: string): Packet | undefined {
  if (line === '') return undefined;
  const [stream, time, size, position, flags = ''] = line.split(',');
  return {
    stream: Number(stream),
    seconds: numberOf(time),
    bytes: numberOf(size),
    at: numberOf(position),
    isKey: flags.startsWith('K'),
    isHidden: flags[1] === 'D',
  };
}

function numberOf(text: string | undefined): number {
  return text === undefined || text === '' ? Number.NaN : Number(text);
}

/** Collects the packets of a video, in the order in which they are stored. */
export class PacketTimes {
  #times = new Float64Array(4096);
  #count = 0;
  readonly #keys: number[] = [];
  #isUntimed = false;

  get count(): number {
    return this.#count;
  }

  add({ seconds, isKey, isHidden }: Packet): void {
    if (isHidden) return;
    if (!Number.isFinite(seconds)) {
      this.#isUntimed = true;
      return;
    }
    if (this.#count === this.#times.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#times);
      this.#times = larger;
    }
    this.#times[this.#count++] = seconds;
    if (isKey) this.#keys.push(seconds);
  }

  /**
   * Returns what the packets say, or undefined if a picture has no time of its own. `fileStart` is the time stamp at which the
   * file starts, and `rate` its frame rate if that is constant.
   */
  pictures(fileStart: number, rate: number | undefined): Pictures | undefined {
    if (this.#isUntimed || this.#count === 0) return undefined;
    const sorted = this.#times.subarray(0, this.#count).sort();
    const first = sorted[0] ?? 0;
    let maxGap = 0;
    let isOnGrid = true;
    for (let index = 1; index < sorted.length; index++) {
      const time = sorted[index] ?? 0;
      const gap = time - (sorted[index - 1] ?? 0);
      if (gap <= 0) return undefined;
      maxGap = Math.max(maxGap, gap);
      const frame = (time - first) * (rate ?? 0);
      if (Math.abs(frame - Math.round(frame)) > maxOffGrid) isOnGrid = false;
    }
    const last = sorted.at(-1) ?? first;
    const boundaries = this.#keys
      .toSorted((one, other) => one - other)
      .flatMap((key) => {
        const gap = key - before(sorted, key);
        return gap < minGapSeconds ? [] : [microseconds(key - Math.min(gap / 2, leadSeconds) - fileStart)];
      });
    return {
      start: microseconds(first - fileStart),
      last: microseconds(last - fileStart),
      maxGap,
      boundaries: thinned(boundaries, (last - first) / maxBoundaries),
      isOnGrid,
      countBefore: (time) => lowerBound(sorted, time + fileStart),
    };
  }
}

/** Returns the largest number below another one in an ascending list. Without one, the first frame is no boundary. */
function before(sorted: Float64Array, time: number): number {
  return sorted[lowerBound(sorted, time) - 1] ?? time;
}

/** Returns how many numbers of an ascending list are below another one. */
export function lowerBound(sorted: ArrayLike<number>, limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function thinned(ascending: number[], minDistance: number): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return ascending.filter((time) => {
    if (time - last < minDistance) return false;
    last = time;
    return true;
  });
}

function microseconds(time: number): number {
  return Math.round(time * 1e6) / 1e6;
}
