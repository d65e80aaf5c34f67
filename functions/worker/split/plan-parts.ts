import { defined } from '../../../shared/defined.ts';
import { type ByteRange, mergedRanges } from '../../engines/runtime/byte-ranges.ts';
import type {
  PartRequest,
  SourceRead,
  SourceReads,
  Survey,
  TargetSize,
  VideoTarget,
} from '../../engines/runtime/protocol.ts';
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
  chunks: PlannedChunk[];
  /** Source time of the end of the last chunk. */
  end: number;
  sound: boolean;
  /** The size that all chunks share, with the sound. */
  size?: TargetSize;
  /** What the parts fetch of the source. Absent if each fetches all of it. */
  reads?: Pick<SourceReads, 'index' | 'sound' | 'join'>;
}

interface PlannedChunk {
  from: number;
  to?: number;
  /** How many pictures it has, and the bytes that it needs in addition to the index. */
  pictures?: number;
  bytes?: ByteRange;
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
export function planParts(survey: Survey, surveyMs: number, partSeconds: number): SplitPlan | undefined {
  const { seconds, start, end, boundaries } = survey;
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
  return cuts.length === 0 ? undefined : planOf(survey, surveyMs, cuts);
}

/** Returns the plan with chunks that begin at the start and at some of the boundaries. */
export function planOf(
  { seconds, start, end, boundaries = [], sound, reads, size }: Survey,
  surveyMs: number,
  cuts: number[],
): SplitPlan {
  const starts = [start, ...cuts];
  // The indexes of the chunks' ends in a list of the start, the boundaries and the end.
  const places = [0, ...cuts.map((cut) => boundaries.indexOf(cut) + 1), boundaries.length + 1];
  const chunks = starts.map((from, index): PlannedChunk => {
    const read = reads && chunkRead(reads, places[index] ?? 0, places[index + 1] ?? 0);
    return { from, ...defined({ to: starts[index + 1] }), ...read };
  });
  const plan = { seconds, surveyMs, chunks, end, sound, ...defined({ size }) };
  if (!reads) return plan;
  const { index, sound: ofSound, join } = reads;
  return { ...plan, reads: { index, ...defined({ sound: ofSound, join }) } };
}

function chunkRead({ from, to, pictures }: SourceReads, first: number, next: number) {
  const count = (pictures[next] ?? 0) - (pictures[first] ?? 0);
  const bytes: ByteRange = [from[first] ?? 0, to[next] ?? 0];
  return { pictures: count, bytes };
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
  /** What it fetches of the source. */
  read: SourceRead;
}

/** Measuring a chunk takes this share of the time of encoding it. */
const measuringShare = 0.2;

/**
 * Returns the parts that run at once. Sound comes first, because nobody shares its work. With a target size, the chunks are
 * measured before they are encoded.
 */
export function partsOf(plan: SplitPlan): PlannedPart[] {
  const { chunks, size, sound, reads } = plan;
  const all = chunks.map((_, index) => secondsOf(plan, index)).reduce((sum, seconds) => sum + seconds, 0);
  const pictures = chunks.map((_, index) =>
    size ? picturePart(plan, index, 'measure', measuredPart(index)) : picturePart(plan, index, 'chunk', `c${index}`),
  );
  const heard = { name: soundPart, request: { kind: 'sound' }, weight: all / 50, read: readOf(reads?.sound) } as const;
  return [...(sound ? [heard] : []), ...pictures];
}

/** Returns the part that measures or encodes the pictures of a chunk. */
export function picturePart(
  plan: SplitPlan,
  index: number,
  kind: 'measure' | 'chunk',
  name: string,
  video?: VideoTarget,
): PlannedPart {
  const { from, to, pictures, bytes } = plan.chunks[index] ?? { from: plan.end };
  const request = { kind, index, from, ...defined({ to, pictures, video }) };
  const weight = secondsOf(plan, index) * (kind === 'measure' ? measuringShare : 1);
  return { name, request, weight, read: readOf(plan.reads && bytes && mergedRanges([...plan.reads.index, bytes])) };
}

/** Returns what a part fetches that needs these bytes. Without them, it needs all. */
export function readOf(ranges: ByteRange[] | undefined): SourceRead {
  return ranges ? { ranges } : {};
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
