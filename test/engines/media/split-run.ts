import { copyFile, mkdir, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogue } from '../../../functions/engines/media/catalogue.ts';
import { engine } from '../../../functions/engines/media/run.ts';
import type { InputFile, Work, WorkResult } from '../../../functions/engines/runtime/engine.ts';
import type { PartRequest, Survey } from '../../../functions/engines/runtime/protocol.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions, type OptionValues } from '../../../shared/catalogue/options.ts';
import { quietContext } from '../../support/sandboxed.ts';

const media = new Catalogue([catalogue]);

/** A run to split, in terms of the engine. */
export interface SplitRequest {
  operation: 'convert' | 'compress';
  source: { path: string; format: string };
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
}

/** Performs one part, as one invocation of the engine does. */
export async function runPart(
  { operation, source, outputFormat, options = {}, folder = tmpdir() }: SplitRequest,
  part: PartRequest,
  parts: { path: string; format: string }[] = [],
): Promise<WorkResult & { progress: number[] }> {
  const own = await mkdtemp(join(folder, 'split-part-'));
  await mkdir(join(own, 'in'));
  const inputs: InputFile[] = [];
  for (const [index, { path, format }] of [source, ...parts].entries()) {
    const copy = join(own, 'in', String(index));
    await copyFile(path, copy);
    inputs.push({ path: copy, name: `video.${format}`, format, size: (await stat(copy)).size });
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
  const progress: Record<string, number[]> = {};
  const parts: { path: string; format: string }[] = [];
  const perform = async (name: string, part: PartRequest) => {
    const ran = await runPart(request, part);
    progress[name] = ran.progress;
    parts.push(...ran.outputs.map(({ path, format }) => ({ path, format })));
  };
  for (const [index, from] of starts.entries()) {
    const to = starts[index + 1];
    await perform(`chunk ${index}`, { kind: 'chunk', index, from, ...(to === undefined ? {} : { to }) });
  }
  if (sound) await perform('sound', { kind: 'sound' });
  const joined = await runPart(request, { kind: 'join', starts, sound }, parts);
  progress.join = joined.progress;
  return { ...joined, path: joined.outputs[0]?.path ?? '', survey, starts, progress };
}
