import { totalBytes } from '../../../shared/files/total-bytes.ts';
import type { VideoTarget } from '../../engines/runtime/protocol.ts';
import { measuredPart, type PlannedPart, picturePart, type SplitPlan, secondsOf, soundPart } from './plan-parts.ts';

/** Share of the target size that the parts aim for, as a whole run does, so that small deviations still meet it. */
const aim = 0.975;
/** A size from this share of the target on meets it. */
const metFrom = 0.95;
/** The rest of the target is for what the join adds. */
const maxShare = 0.99;
/** Names of the encodings of a chunk: the first, and those with corrected bit rates. */
const rounds = ['c', 'd', 'e', 'f'];
/** At a constant quality, bits follow the detail of pictures more than they have to: the eye misses the least of it. */
const exponent = 0.8;
const minBitrate = 6_000;
const [minFactor, maxFactor] = [0.2, 4];
/** If more bits make a video no larger than this, it has enough of them. */
const hardlyLarger = 1.03;
/** With less than this share of their bits left, chunks would look too bad next to one that cannot be made smaller. */
const minLeft = 0.7;
/** A chunk that is hardly larger than its share is not encoded again. */
const keptUpTo = 1.005;
/** By how much the sides shrink if the bit rate can fall no further. */
const shrinkage = 0.7;

interface Encoded extends VideoTarget {
  name: string;
  size: number;
}

/** What follows from the sizes of the finished parts: further parts, or the chunks to join by name. */
export type NextStep = { parts: PlannedPart[] } | { chunks: string[] } | { minBytes: number };

/**
 * Returns the next step of a run, from its plan and the sizes of its finished parts by name. With a target size, bits are shared
 * by the measured chunks, and corrected as long as all chunks together do not meet the size. `minBytes` is the smallest size that
 * was reached if all are too large.
 */
export function nextStep(plan: SplitPlan, sizeOf: (name: string) => number | undefined): NextStep {
  const { chunks, size, sound } = plan;
  if (!size) return { chunks: chunks.map((_, index) => `c${index}`) };
  const ofSound = sound ? requiredSize(soundPart, sizeOf) : 0;
  const budgets = budgetsOf(plan, ofSound, sizeOf);
  const made: Encoded[][] = [];
  const totalOf = (encoded: Encoded[]) => ofSound + totalBytes(encoded);
  let wanted: VideoTarget[] | undefined = budgets.map((budget, index) => ({
    bitrate: bitrateOf(plan, index, budget),
    scale: 1,
  }));
  for (const letter of rounds) {
    const before = made.at(-1);
    const planned = wanted.map((target, index) => {
      const same = before?.[index];
      return same && same.bitrate === target.bitrate && same.scale === target.scale
        ? same
        : { ...target, name: `${letter}${index}`, size: sizeOf(`${letter}${index}`) };
    });
    const missing = planned.flatMap((part, index) => (part.size === undefined ? [partOf(plan, index, part)] : []));
    if (missing.length > 0) return { parts: missing };
    const encoded = planned.flatMap((part) => (part.size === undefined ? [] : [{ ...part, size: part.size }]));
    made.push(encoded);
    wanted = corrected(budgets, made, size.bytes, totalOf);
    if (!wanted) break;
  }
  const best = made
    .filter((encoded) => totalOf(encoded) <= size.bytes * maxShare)
    .toSorted((one, other) => totalOf(other) - totalOf(one))[0];
  return best ? { chunks: best.map(({ name }) => name) } : { minBytes: Math.min(...made.map(totalOf)) };
}

/** Returns the work that follows the parts of a plan, as weights. */
export function laterWeights(plan: SplitPlan): number[] {
  return plan.size ? plan.chunks.map((_, index) => secondsOf(plan, index)) : [];
}

/** Returns the bytes of each chunk: in proportion to its measured size by time, to a power. */
function budgetsOf(plan: SplitPlan, ofSound: number, sizeOf: (name: string) => number | undefined): number[] {
  const bytes = plan.size?.bytes ?? 0;
  const pictures = Math.max(bytes * aim - ofSound, bytes * 0.1);
  const weights = plan.chunks.map((_, index) => {
    const seconds = secondsOf(plan, index);
    return seconds * (requiredSize(measuredPart(index), sizeOf) / seconds) ** exponent;
  });
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (pictures * weight) / all);
}

function requiredSize(name: string, sizeOf: (name: string) => number | undefined): number {
  const size = sizeOf(name);
  if (size === undefined) throw new Error(`The part ${name} has not finished.`);
  return size;
}

function bitrateOf(plan: SplitPlan, index: number, budget: number): number {
  const seconds = secondsOf(plan, index);
  const overhead = ((plan.size?.overhead ?? 0) * seconds) / (plan.end - (plan.chunks[0]?.from ?? 0));
  return Math.max(minBitrate, Math.round(((budget - overhead) * 8) / seconds));
}

function partOf(plan: SplitPlan, index: number, { name, bitrate, scale }: VideoTarget & { name: string }): PlannedPart {
  return picturePart(plan, index, 'chunk', name, { bitrate, scale });
}

/** Returns what to encode again, or undefined if the size is met or nothing is left to correct. */
function corrected(
  budgets: number[],
  made: Encoded[][],
  bytes: number,
  totalOf: (encoded: Encoded[]) => number,
): VideoTarget[] | undefined {
  const [now = [], before] = made.toReversed();
  const total = totalOf(now);
  if (total > bytes * maxShare) {
    const isLarge = ({ size }: Encoded, index: number) => size > (budgets[index] ?? 0) * keptUpTo;
    const isStuck = (chunk: Encoded, index: number) => {
      const last = before?.[index];
      if (!isLarge(chunk, index) || chunk.bitrate <= minBitrate) return isLarge(chunk, index);
      if (last?.scale !== chunk.scale || chunk.bitrate >= last.bitrate) return false;
      // Less than half of the bits that it was to lose.
      return chunk.size / last.size > (1 + chunk.bitrate / last.bitrate) / 2;
    };
    const isCorrected = (chunk: Encoded, index: number) => isLarge(chunk, index) && !isStuck(chunk, index);
    const kept = totalBytes(now.filter((chunk, index) => !isCorrected(chunk, index)));
    const planned = budgets.filter((_, index) => now[index] && isCorrected(now[index], index));
    const left =
      Math.max(0, bytes * aim - (total - totalBytes(now)) - kept) / planned.reduce((sum, each) => sum + each, 0);
    // All chunks have pictures of the same size.
    const shrunk = planned.length === 0 || left < minLeft ? shrinkage : 1;
    return now.map((chunk, index) => {
      const scale = chunk.scale * shrunk;
      if (!isCorrected(chunk, index)) {
        const first = shrunk < 1 && isStuck(chunk, index) ? made[0]?.[index] : undefined;
        return { bitrate: first?.bitrate ?? chunk.bitrate, scale };
      }
      const factor = Math.max(minFactor, Math.min(1, ((budgets[index] ?? 0) * Math.max(left, minLeft)) / chunk.size));
      return { bitrate: Math.max(minBitrate, Math.round(chunk.bitrate * factor)), scale };
    });
  }
  const isRaised = now.some(({ bitrate }, index) => bitrate > (before?.[index]?.bitrate ?? bitrate));
  const isSaturated = before !== undefined && isRaised && total < totalOf(before) * hardlyLarger;
  if (total >= bytes * metFrom || isSaturated) return undefined;
  const pictures = totalBytes(now);
  const factor = Math.min(maxFactor, (bytes * aim - (total - pictures)) / pictures);
  return now.map(({ bitrate, scale }) => ({ bitrate: Math.round(bitrate * factor), scale }));
}
