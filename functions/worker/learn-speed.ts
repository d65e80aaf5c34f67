import { readSpeeds, writeSpeeds } from '../../shared/aws/stores/speeds.ts';
import { totalBytes } from '../../shared/files/total-bytes.ts';
import { writeMetrics } from '../../shared/metrics.ts';
import { classOf, predict, withRun } from '../../shared/tasks/speeds.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import type { RunPlan } from '../invocation/plan-run.ts';
import type { Run, RunResult } from './worker.ts';

/** One of so many short runs of a conversion is measured, so that most tasks read and write nothing more. */
const everyRuns = 20;
/** A run of this many seconds costs far more than a write. */
const longSeconds = 10;

/** Runs of each conversion in this environment. */
const counts = new Map<string, number>();

/** Adds a run to the measured speeds of its conversion, if it is one that counts, and compares it with what they predict. */
export async function learnSpeed(engine: string, run: Run, plan: RunPlan, result: RunResult): Promise<void> {
  const { operation, outputFormat: to, files } = plan;
  const [first] = files;
  if (!first || !run.engine) return;
  const from = catalogue.canonical(first.format);
  const seconds = run.engine.ms / 1_000;
  if (!isMeasured(`${operation} ${from} ${to}`, seconds)) return;
  const conversion = { engine, operation, from, to };
  const descriptors = catalogue.find(operation, from, to)?.capability.options ?? [];
  const ofClass = classOf(run.task.payload.options, descriptors);
  const speeds = await readSpeeds(conversion);
  const [inputBytes, bytes] = [totalBytes(files), totalBytes(result.files)];
  const predicted = predict(speeds, ofClass, inputBytes);
  // A surveyed run has a better estimate, which is compared already.
  if (predicted && !result.details?.estimate) writeEstimate(predicted.seconds, seconds, engine);
  await writeSpeeds(conversion, withRun(speeds, ofClass, { seconds, inputBytes, bytes }));
}

/** Writes by how much an estimate was wrong, in percent of it. */
export function writeEstimate(estimatedSeconds: number, seconds: number, engine: string): void {
  if (estimatedSeconds <= 0) return;
  const error = (100 * Math.abs(seconds - estimatedSeconds)) / estimatedSeconds;
  writeMetrics({ EstimateError: error }, {}, { message: 'the run was estimated', engine, estimatedSeconds, seconds });
}

function isMeasured(conversion: string, seconds: number): boolean {
  const count = counts.get(conversion) ?? 0;
  counts.set(conversion, count + 1);
  return seconds >= longSeconds || count % everyRuns === 0;
}
