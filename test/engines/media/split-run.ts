import { closeSync, openSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogue } from '../../../functions/engines/media/catalogue.ts';
import { engine } from '../../../functions/engines/media/run.ts';
import type { ByteRange } from '../../../functions/engines/runtime/byte-ranges.ts';
import type { InputFile, Work, WorkResult } from '../../../functions/engines/runtime/engine.ts';
import type { PartRequest, SourceRead, Survey } from '../../../functions/engines/runtime/protocol.ts';
import { fetchIndex, fetchRanges } from '../../../functions/engines/runtime/remote-ranges.ts';
import { surveyOf as checkedSurvey } from '../../../functions/invocation/parse-survey.ts';
import { type PlannedPart, partsOf, planOf, readOf, soundPart } from '../../../functions/worker/split/plan-parts.ts';
import { nextStep } from '../../../functions/worker/split/share-bits.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions, type OptionValues } from '../../../shared/catalogue/options.ts';
import { defined } from '../../../shared/defined.ts';
import type { RangedStore } from '../../support/ranged-store.ts';
import { quietContext } from '../../support/sandboxed.ts';

const media = new Catalogue([catalogue]);

/** A run to split, in terms of the engine. */
export interface SplitRequest {
  operation: 'convert' | 'compress';
  source: { path: string; format: string; name?: string };
  outputFormat: string;
  options?: Record<string, unknown>;
  /** Folder for the folders of the parts. Defaults to the system's. */
  folder?: string;
  /** Reads the source by ranges. Defaults to copies of the whole source. */
  store?: RangedStore;
}

export interface SplitResult extends WorkResult {
  path: string;
  survey: Survey;
  /** The source times at which the chunks begin, in seconds. */
  starts: number[];
  progress: Record<string, number[]>;
  /** How many bytes each part read of the source. */
  read: Record<string, number>;
  /** Bytes of all parts that were joined. */
  bytes: number;
}

/** Performs one part, as one invocation of the engine does. */
export async function runPart(
  { operation, source, outputFormat, options = {}, folder = tmpdir(), store }: SplitRequest,
  part: PartRequest,
  parts: SplitRequest['source'][] = [],
  read: SourceRead = {},
): Promise<WorkResult & { progress: number[] }> {
  const own = await mkdtemp(join(folder, 'split-part-'));
  await mkdir(join(own, 'in'));
  const inputs: InputFile[] = [];
  for (const [index, { path, format, name = `video.${format}` }] of [source, ...parts].entries()) {
    const copy = join(own, 'in', String(index));
    const ranges = store && index === 0 ? await fetchPart(store, path, copy, read) : undefined;
    if (!ranges) await copyFile(path, copy);
    inputs.push({ path: copy, name, format, size: (await stat(copy)).size, ...defined({ ranges }) });
  }
  const progress: number[] = [];
  const work: Work = {
    operation,
    inputs,
    outputFormat,
    options: valuesOf(operation, source.format, outputFormat, options),
    folder: own,
    part,
  };
  const result = await engine.run(work, { ...quietContext(), progress: (percent) => progress.push(percent) });
  return { ...result, progress };
}

/** Fetches what a part reads of a source, as the engine's function does. Returns undefined for the whole source. */
async function fetchPart(
  { url }: RangedStore,
  path: string,
  copy: string,
  { ranges, read }: SourceRead,
): Promise<ByteRange[] | undefined> {
  if (!ranges && !read) return undefined;
  const descriptor = openSync(copy, 'w');
  const source = { url, size: (await stat(path)).size, descriptor, signal: new AbortController().signal };
  try {
    if (!ranges) return await fetchIndex(source);
    await fetchRanges(source, ranges);
    return ranges;
  } finally {
    closeSync(descriptor);
  }
}

function valuesOf(
  operation: SplitRequest['operation'],
  from: string,
  to: string,
  options: Record<string, unknown>,
): OptionValues {
  const match = media.find(operation, from, to);
  if (!match) throw new Error(`The catalogue has no ${operation} of ${from} to ${to}.`);
  const { values, errors } = checkOptions(match.capability.options, options);
  if (Object.keys(errors).length > 0) throw new Error(JSON.stringify(errors));
  return values;
}

/** Surveys a source. */
export async function surveyOf(request: SplitRequest, read: SourceRead = {}): Promise<Survey> {
  const { details } = await runPart(request, { kind: 'survey' }, [], read);
  return checkedSurvey(details?.survey, (await stat(request.source.path)).size, (text) => text);
}

/** Runs survey, chunks, sound and join in this process. `minSeconds` is the shortest chunk. */
export async function splitRun(request: SplitRequest, minSeconds = 0, read: SourceRead = {}): Promise<SplitResult> {
  const survey = await surveyOf(request, read);
  const { boundaries = [], start, end, sound } = survey;
  if (survey.whole !== undefined) throw new Error(`The run is not split: ${survey.whole}`);
  const starts = [start];
  for (const time of boundaries)
    if (time - (starts.at(-1) ?? 0) >= minSeconds && end - time >= minSeconds && time > start) starts.push(time);
  const plan = planOf(survey, 0, starts.slice(1));
  const progress: Record<string, number[]> = {};
  const bytesRead: Record<string, number> = {};
  const made = new Map<string, { path: string; format: string; size: number }>();
  const run = async (name: string, part: PartRequest, of: SourceRead, inputs?: SplitRequest['source'][]) => {
    const before = request.store?.sent ?? 0;
    const ran = await runPart(request, part, inputs, of);
    progress[name] = ran.progress;
    bytesRead[name] = (request.store?.sent ?? 0) - before;
    return ran;
  };
  const perform = async ({ name, request: part, read }: PlannedPart) => {
    const [output] = (await run(name, part, read)).outputs;
    if (!output) throw new Error(`The part ${name} has no output.`);
    made.set(name, { path: output.path, format: output.format, size: (await stat(output.path)).size });
  };
  for (const part of partsOf(plan)) await perform(part);
  let next = nextStep(plan, (name) => made.get(name)?.size);
  while ('parts' in next) {
    for (const part of next.parts) await perform(part);
    next = nextStep(plan, (name) => made.get(name)?.size);
  }
  if (!('chunks' in next)) throw new Error(`The smallest possible size is ${next.minBytes} bytes.`);
  const parts = [...next.chunks, ...(sound ? [soundPart] : [])].flatMap((name) => made.get(name) ?? []);
  const joined = await run('join', { kind: 'join', starts, sound }, readOf(plan.reads?.join), parts);
  const bytes = parts.reduce((sum, { size }) => sum + size, 0);
  return { ...joined, path: joined.outputs[0]?.path ?? '', survey, starts, progress, read: bytesRead, bytes };
}
