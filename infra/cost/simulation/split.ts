import { usualPreset } from '../../../functions/engines/media/presets.ts';
import { estimate } from '../../../functions/engines/media/time-limit.ts';
import { planParts } from '../../../functions/worker/split/plan-parts.ts';
import { coresOf } from '../../../shared/catalogue/sizes.ts';
import { numberSettings } from '../../../shared/settings.ts';
import type { Inventory } from '../inventory.ts';
import { measurements } from '../measurements.ts';
import { environmentCost, invocation } from '../model.ts';
import { prices } from '../prices.ts';

/** A video of 1080p at 30 frames a second that is converted to H.264. Its sound is copied. */
export interface LongVideo {
  minutes: number;
  bytes: number;
  /** Parts that may be in progress at once. */
  places: number;
}

/** When the phases of a split run end, in seconds, and what it costs. */
export interface SplitOutcome {
  chunks: number;
  chunkSeconds: number;
  surveyed: number;
  encoded: number;
  joined: number;
  dollars: number;
  /** For one engine, as estimated. */
  wholeSeconds: number;
}

const pixels = { width: 1920, height: 1080 };
const framesPerSecond = 30;

/**
 * Simulates a split run: the real planner, the measured speeds of encoders, and transfers between engines and the bucket. Each
 * engine is new, and fetches what it needs of the source.
 */
export function simulateSplit({ engines, worker }: Inventory, { minutes, bytes, places }: LongVideo): SplitOutcome {
  const engine = engines.get('media');
  if (!engine) throw new Error('The template has no engine media.');
  const { bytesPerSecond, init, split } = measurements;
  const transfer = (count: number) => count / bytesPerSecond;
  const source = minutes * 60;
  const frames = source * framesPerSecond;
  const megapixels = (pixels.width * pixels.height * frames) / 1e6;
  const bitsPerPixel = (bytes * 8) / (megapixels * 1e6);
  const pictures = { writer: 'libx264', ...pixels, frames, bitsPerPixel } as const;
  const load = { seconds: source, pictures, megapixelsRead: megapixels, oneCoreSeconds: 0 };
  const wholeSeconds = estimate(load, usualPreset, coresOf(engine.memoryMegabytes, 6));
  // MP4: the index, and the first pictures and sound.
  const packets = frames + source * split.soundPacketsPerSecond;
  const index = split.firstMediaBytes + packets * split.indexBytesPerPacket;
  const surveySeconds =
    init.engineSeconds + split.headerSeconds + transfer(index) + packets / split.listedPacketsPerSecond;
  const boundaries = Array.from(
    { length: Math.floor(source / split.keyframeSeconds) },
    (_, i) => i * split.keyframeSeconds,
  );
  const survey = { seconds: wholeSeconds, start: 0, end: source, boundaries, sound: true };
  const plan = planParts(survey, 1_000 * surveySeconds, numberSettings.splitSeconds.defaultValue);
  if (!plan) throw new Error('The planner did not split the video.');
  const share = bytes / plan.chunks.length;
  const chunkSeconds = plan.chunks.map(({ from, to = plan.end }) => {
    const fetched = index + (bytes * (to - from + split.rollSeconds)) / source;
    const encoding = (wholeSeconds * split.chunkOverhead * (to - from)) / source;
    return init.engineSeconds + transfer(fetched) + split.checkSeconds + encoding + transfer(share) + split.keepSeconds;
  });
  // Between every two pictures there is sound, so all is fetched.
  const sound = init.engineSeconds + transfer(bytes) + bytes / split.readBytesPerSecond + split.keepSeconds;
  const surveyed = split.queueSeconds + surveySeconds;
  const encoded = surveyed + makespan([sound, ...chunkSeconds], places, 1 / split.startsPerSecond);
  // The output is as large as the chunks. It is stored in parts while it is written, and while later chunks are read.
  const begun = transfer(index + Math.min(split.joinReads, plan.chunks.length) * share);
  const left = transfer(share + index + split.joinFrontBytes + (split.joinLastParts * bytes) / split.joinParts);
  const joinSeconds =
    begun + Math.max(transfer(bytes), bytes / split.joinBytesPerSecond) + share / split.joinBytesPerSecond + left;
  const joined = encoded + joinSeconds + split.keepSeconds;
  const runs = [surveySeconds, sound, ...chunkSeconds, joinSeconds];
  const dollars =
    runs.reduce((sum, seconds) => sum + invocation(engine, seconds), 0) +
    Math.min(places, runs.length) * environmentCost(engine) +
    invocation(worker, joined) +
    // Per part: the form, its copy, their tags, and its record; heartbeats and places every few seconds.
    runs.length * (2 * prices.s3.write + 2 * prices.s3.read + prices.dynamodb.write) +
    (joined / 2) * prices.dynamodb.write;
  return {
    chunks: plan.chunks.length,
    chunkSeconds: median(chunkSeconds),
    surveyed,
    encoded,
    joined,
    dollars,
    wholeSeconds,
  };
}

/** Returns when the last of these works ends. They start one after another, and each takes the first free place. */
function makespan(works: number[], places: number, pause: number): number {
  const free = Array.from({ length: places }, () => 0);
  let last = 0;
  works.forEach((seconds, index) => {
    const place = free.indexOf(Math.min(...free));
    free[place] = Math.max(free[place] ?? 0, index * pause) + seconds;
    last = Math.max(last, free[place]);
  });
  return last;
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
