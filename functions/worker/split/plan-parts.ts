import { defined } from '../../../shared/defined.ts';
import type { PartRequest, Survey, TargetSize } from '../../engines/runtime/protocol.ts';
import type { RunPlan } from '../../invocation/plan-run.ts';

/** Chunks, and inputs of the join. */
const maxChunks = 400;
/** A video that takes less than this many parts is not worth the start of several engines. */
const minParts = 3;
/** A chunk decodes a few seconds that others encode, so it is not too short. */
const minSourcePerEngineSecond = 1;
/** Fewer bytes take hardly more time than a survey. */
const minBytesPerSecond = 1_500_000;

/** How a run is split. It is stored, so that a later attempt uses the same boundaries. */
export interface SplitPlan {
  /** Estimated engine seconds of the whole run. */
  seconds: number;
  /** Engine time of the survey in milliseconds. */
  surveyMs: number;
  chunks: { from: number; to?: number }[];
  /** Source time of the end of the last chunk. */
  end: number;
  sound: boolean;
  /** The size that all chunks share, with the sound. */
  size?: TargetSize;
}

/** Returns whether a run may be worth splitting, from what is known without reading its source. */
export function isCandidate(
  { operation, files }: Pick<RunPlan, 'operation' | 'files'>,
  mediaTypes: string[],
  partSeconds: number,
): boolean {
  const [file] = files;
  if (!file || files.length > 1 || file.size < partSeconds * minBytesPerSecond) return false;
  if (operation !== 'convert' && operation !== 'compress') return false;
  const [source = '', output = ''] = mediaTypes;
  // Segments of HLS and DASH are stored as a ZIP.
  return source.startsWith('video/') && (output.startsWith('video/') || output === 'application/zip');
}

/**
 * Plans the chunks of a run so that each takes an engine about that long. Returns undefined if one engine does the whole run
 * nearly as soon, or if it cannot be split.
 */
export function planParts(
  { seconds, start, end, boundaries, sound, size }: Survey,
  surveyMs: number,
  partSeconds: number,
): SplitPlan | undefined {
  if (!boundaries || seconds < minParts * partSeconds) return undefined;
  const duration = end - start;
  const fitting = Math.floor(duration / (partSeconds * minSourcePerEngineSecond));
  const count = Math.min(maxChunks, Math.ceil(seconds / partSeconds), fitting);
  const cuts: number[] = [];
  const inside = boundaries.filter((time) => time > start && time < end);
  for (let index = 1; index < count; index++) {
    const cut = nearest(inside, start + (duration * index) / count);
    if (cut !== undefined && cut > (cuts.at(-1) ?? start)) cuts.push(cut);
  }
  if (cuts.length === 0) return undefined;
  const starts = [start, ...cuts];
  const chunks = starts.map((from, index) => {
    const to = starts[index + 1];
    return to === undefined ? { from } : { from, to };
  });
  return { seconds, surveyMs, chunks, end, sound, ...defined({ size }) };
}

/** Returns the item of an ascending list that is nearest to a number. */
function nearest(ascending: number[], wanted: number): number | undefined {
  const next = ascending.findIndex((item) => item >= wanted);
  const [after, before] = next < 0 ? [undefined, ascending.at(-1)] : [ascending[next], ascending[next - 1]];
  if (after === undefined || before === undefined) return after ?? before;
  return after - wanted < wanted - before ? after : before;
}

/** A part of a split run, without survey and join. */
export interface PlannedPart {
  name: string;
  request: PartRequest;
  /** Its share of the work. */
  weight: number;
}

/** Measuring a chunk takes this share of the time of encoding it. */
const measuringShare = 0.2;

/**
 * Returns the parts that run at once. Sound comes first, because nobody shares its work. With a target size, the chunks are
 * measured before they are encoded.
 */
export function partsOf(plan: SplitPlan): PlannedPart[] {
  const { chunks, size, sound } = plan;
  const all = chunks.map((_, index) => secondsOf(plan, index)).reduce((sum, seconds) => sum + seconds, 0);
  const pictures = chunks.map((chunk, index): PlannedPart => {
    if (!size)
      return { name: `c${index}`, request: { kind: 'chunk', index, ...chunk }, weight: secondsOf(plan, index) };
    const weight = secondsOf(plan, index) * measuringShare;
    return { name: measuredPart(index), request: { kind: 'measure', index, ...chunk }, weight };
  });
  return [...(sound ? [{ name: soundPart, request: { kind: 'sound' } as const, weight: all / 50 }] : []), ...pictures];
}

/** Returns the source time that a chunk covers. */
export function secondsOf({ chunks, end }: Pick<SplitPlan, 'chunks' | 'end'>, index: number): number {
  const { from = end, to = end } = chunks[index] ?? {};
  return to - from;
}

/** Returns the name of the part that measures a chunk. */
export function measuredPart(index: number): string {
  return `m${index}`;
}

/** The name of the part with the sound. */
export const soundPart = 'sound';
