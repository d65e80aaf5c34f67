import type { PartRequest, Survey } from '../../engines/runtime/protocol.ts';
import type { RunPlan } from '../../invocation/plan-run.ts';

/** Chunks, and inputs of the join. */
export const maxParts = 400;
/** A run that takes less than this many parts is not worth the start of several engines. */
export const minParts = 3;
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
}

/** Returns whether a run may be worth splitting, from what is known without reading its source. */
export function isCandidate(
  { operation, options, files }: Pick<RunPlan, 'operation' | 'options' | 'files'>,
  mediaTypes: string[],
  partSeconds: number,
): boolean {
  const [file] = files;
  if (!file || files.length > 1 || file.size < partSeconds * minBytesPerSecond) return false;
  if (operation !== 'convert' && operation !== 'compress') return false;
  // The size of a chunk is known only once it is encoded, and all of them together have to meet it.
  if (options.compress_video === 'by_size' || options.compress_video === 'by_percentage') return false;
  return mediaTypes.every((type) => type.startsWith('video/'));
}

/**
 * Plans the chunks of a run so that each takes an engine about that long. Returns undefined if one engine does the whole run
 * nearly as soon, or if it cannot be split.
 */
export function planParts(
  { seconds, start, end, boundaries, sound }: Survey,
  surveyMs: number,
  partSeconds: number,
): SplitPlan | undefined {
  if (!boundaries || seconds < minParts * partSeconds) return undefined;
  const duration = end - start;
  const fitting = Math.floor(duration / (partSeconds * minSourcePerEngineSecond));
  const count = Math.min(maxParts, Math.ceil(seconds / partSeconds), fitting);
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
  return { seconds, surveyMs, chunks, end, sound };
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

/** Returns the parts that run at once. Sound comes first, because nobody shares its work. */
export function partsOf({ chunks, end, sound }: SplitPlan): PlannedPart[] {
  const encoded = chunks.map(({ from, to }, index): PlannedPart => {
    const request = { kind: 'chunk', index, from, ...(to === undefined ? {} : { to }) } as const;
    return { name: `c${index}`, request, weight: (to ?? end) - from };
  });
  const all = encoded.reduce((sum, { weight }) => sum + weight, 0);
  return [...(sound ? [{ name: soundPart, request: { kind: 'sound' } as const, weight: all / 50 }] : []), ...encoded];
}

/** The name of the part with the sound. */
export const soundPart = 'sound';
