import { type DayOfUsage, usageBetween } from '../../../shared/aws/stores/minutes.ts';
import { isProcessing } from '../../../shared/operations/operations.ts';
import type { Prediction } from '../../../shared/tasks/speeds.ts';
import type { JsonObject, Task } from '../../../shared/tasks/task.ts';
import { catalogue, engineCatalogues } from '../../catalogue/catalogues.ts';
import { predictTasks } from './predict-tasks.ts';
import type { PreparedTasks } from './prepare-tasks.ts';

const historyMs = 30 * 86_400_000;

/** The expected engine time of planned tasks. */
export interface Estimate {
  conversionSeconds: number;
  tasks: JsonObject[];
}

/**
 * Estimates the engine time of planned tasks, by what is known best: the measured speed if the size of the input is known, the
 * average of the account for the same formats in the last 30 days, or the typical time of the engine.
 */
export async function estimateTime(user: string, prepared: PreparedTasks): Promise<Estimate> {
  const { tasks } = prepared.plan;
  const { now } = prepared;
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const metered = tasks.filter(({ meter }) => meter !== undefined);
  const [history, measured] =
    metered.length > 0
      ? await Promise.all([usageBetween(user, day(now - historyMs), day(now)), predictTasks(prepared)])
      : [[], new Map<string, Prediction>()];
  const estimates = metered.map((task) => {
    const estimate = measured.get(task.id);
    const { seconds, basis } = estimate ? { ...estimate, basis: 'measured' } : estimateOf(task, tasks, history);
    return {
      name: task.name,
      operation: task.operation,
      conversionSeconds: seconds,
      basis,
      ...(estimate ? { estimate: { ...estimate } } : {}),
    };
  });
  return {
    conversionSeconds: estimates.reduce((sum, { conversionSeconds }) => sum + conversionSeconds, 0),
    tasks: estimates,
  };
}

function estimateOf(task: Task, tasks: Task[], history: DayOfUsage[]): { seconds: number; basis: string } {
  const output = outputFormatOf(task);
  const input = inputFormatOf(task, tasks);
  const matches = history.flatMap(({ formats }) =>
    Object.entries(formats)
      .filter(([pair]) => isPair(pair, input, output))
      .map(([, sum]) => sum),
  );
  const count = matches.reduce((sum, { tasks: each }) => sum + each, 0);
  if (count > 0) {
    const ms = matches.reduce((sum, { ms: each }) => sum + each, 0) / count;
    return { seconds: Math.round(ms) / 1000, basis: 'history' };
  }
  return { seconds: typicalSeconds(task, input, output), basis: 'typical' };
}

function isPair(pair: string, input: string | undefined, output: string | undefined): boolean {
  const [from, to] = pair.split('>');
  return (input === undefined || from === input) && to === (output ?? from);
}

function outputFormatOf({ operation, payload }: Task): string | undefined {
  if (!isProcessing(operation)) return 'html';
  return typeof payload.output_format === 'string' ? catalogue.canonical(payload.output_format) : undefined;
}

/** Returns the input format of a task if the request determines it. */
function inputFormatOf({ operation, payload, dependsOn }: Task, tasks: Task[]): string | undefined {
  if (!isProcessing(operation)) return 'page';
  if (typeof payload.input_format === 'string') return catalogue.canonical(payload.input_format);
  const inputs = tasks.filter(({ id }) => dependsOn.includes(id));
  const [first] = inputs.map((input) => (isProcessing(input.operation) ? outputFormatOf(input) : undefined));
  return first;
}

/** Returns the typical time of the slowest engine that could perform a task. */
function typicalSeconds({ operation }: Task, input: string | undefined, output: string | undefined): number {
  const engines = engineCatalogues.filter(({ operations = [], capabilities }) => {
    if (operations.some((known) => known === operation)) return true;
    return capabilities.some(
      (capability) =>
        capability.operation === operation &&
        (input === undefined || capability.from.includes(input)) &&
        (output === undefined || capability.to.includes(output)),
    );
  });
  return Math.max(0, ...engines.map(({ resources }) => resources.typicalSeconds));
}
