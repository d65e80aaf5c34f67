import { copyFile, mkdir, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogue } from '../../../functions/engines/media/catalogue.ts';
import { engine } from '../../../functions/engines/media/run.ts';
import type { InputFile, Work, WorkResult } from '../../../functions/engines/runtime/engine.ts';
import type { PartRequest, Survey } from '../../../functions/engines/runtime/protocol.ts';
import { type PlannedPart, partsOf, type SplitPlan, soundPart } from '../../../functions/worker/split/plan-parts.ts';
import { nextStep } from '../../../functions/worker/split/share-bits.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions, type OptionValues } from '../../../shared/catalogue/options.ts';
import { defined } from '../../../shared/defined.ts';
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
}

export interface SplitResult extends WorkResult {
  path: string;
  survey: Survey;
  /** The source times at which the chunks begin, in seconds. */
  starts: number[];
  progress: Record<string, number[]>;
  /** Bytes of all parts that were joined. */
  bytes: number;
}

/** Performs one part, as one invocation of the engine does. */
export async function runPart(
  { operation, source, outputFormat, options = {}, folder = tmpdir() }: SplitRequest,
  part: PartRequest,
  parts: SplitRequest['source'][] = [],
): Promise<WorkResult & { progress: number[] }> {
  const own = await mkdtemp(join(folder, 'split-part-'));
  await mkdir(join(own, 'in'));
  const inputs: InputFile[] = [];
  for (const [index, { path, format, name = `video.${format}` }] of [source, ...parts].entries()) {
    const copy = join(own, 'in', String(index));
    await copyFile(path, copy);
    inputs.push({ path: copy, name, format, size: (await stat(copy)).size });
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
export async function surveyOf(request: SplitRequest): Promise<Survey> {
  const { details } = await runPart(request, { kind: 'survey' });
  // The service checks it field by field; see its own tests.
  return details?.survey as unknown as Survey;
}

/** Runs survey, chunks, sound and join in this process. `minSeconds` is the shortest chunk. */
export async function splitRun(request: SplitRequest, minSeconds = 0): Promise<SplitResult> {
  const survey = await surveyOf(request);
  const { boundaries = [], start, end, sound } = survey;
  if (survey.whole !== undefined) throw new Error(`The run is not split: ${survey.whole}`);
  const starts = [start];
  for (const time of boundaries)
    if (time - (starts.at(-1) ?? 0) >= minSeconds && end - time >= minSeconds && time > start) starts.push(time);
  const chunks = starts.map((from, index) => ({ from, ...defined({ to: starts[index + 1] }) }));
  const plan: SplitPlan = { ...survey, surveyMs: 0, chunks };
  const progress: Record<string, number[]> = {};
  const made = new Map<string, { path: string; format: string; size: number }>();
  const perform = async ({ name, request: part }: PlannedPart) => {
    const ran = await runPart(request, part);
    progress[name] = ran.progress;
    const [output] = ran.outputs;
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
  const joined = await runPart(request, { kind: 'join', starts, sound }, parts);
  progress.join = joined.progress;
  const bytes = parts.reduce((sum, { size }) => sum + size, 0);
  return { ...joined, path: joined.outputs[0]?.path ?? '', survey, starts, progress, bytes };
}
