import { readSpeeds } from '../../../shared/aws/stores/speeds.ts';
import { extensionOf } from '../../../shared/files/names.ts';
import { totalBytes } from '../../../shared/files/total-bytes.ts';
import { isProcessing, outputFormatOf } from '../../../shared/operations/operations.ts';
import { classOf, type Prediction, predict, type Speeds } from '../../../shared/tasks/speeds.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import type { PreparedTasks } from './prepare-tasks.ts';

/** Conversions whose speeds are read for a request. */
const maxReads = 25;

/** What is known of the files of a task. */
interface KnownFiles {
  bytes: number;
  format: string;
}

/** Predicts planned tasks by measured speeds. Leaves out those with an unknown input, or without such a measurement. */
export async function predictTasks({ plan, contents, outside }: PreparedTasks): Promise<Map<string, Prediction>> {
  const known = new Map<string, KnownFiles>();
  const predictions = new Map<string, Prediction>();
  const read = new Map<string, Promise<Speeds>>();
  for (const [id, { status, files }] of outside)
    if (status === 'completed') setKnown(known, id, totalBytes(files), files[0]?.format);
  for (const task of plan.tasks) {
    const content = contents.get(task.name);
    if (content) setKnown(known, task.id, content.length, extensionOf(String(task.payload.filename ?? '')));
    const prediction = await predictTask(task, known, read);
    if (!prediction) continue;
    predictions.set(task.id, prediction);
    setKnown(known, task.id, prediction.bytes, outputOf(task, known));
  }
  return predictions;
}

async function predictTask(
  task: Task,
  known: ReadonlyMap<string, KnownFiles>,
  read: Map<string, Promise<Speeds>>,
): Promise<Prediction | undefined> {
  const { operation, payload, dependsOn } = task;
  const inputs = dependsOn.flatMap((id) => known.get(id) ?? []);
  const [first] = inputs;
  if (!first || inputs.length < dependsOn.length || !isProcessing(operation)) return undefined;
  const from = first.format;
  const to = outputOf(task, known);
  const match = catalogue.find(operation, from, to);
  if (!match) return undefined;
  const key = `${operation} ${from} ${to}`;
  const speeds = read.get(key) ?? (read.size < maxReads ? readSpeeds({ ...match, operation, from, to }) : undefined);
  if (!speeds) return undefined;
  read.set(key, speeds);
  const inputBytes = inputs.reduce((sum, { bytes }) => sum + bytes, 0);
  const found = predict(await speeds, classOf(payload.options, match.capability.options), inputBytes);
  return found && { seconds: Math.round(found.seconds * 1000) / 1000, bytes: Math.round(found.bytes) };
}

/** Returns the output format of a task whose inputs are known. */
function outputOf({ operation, payload, dependsOn: [id = ''] }: Task, known: ReadonlyMap<string, KnownFiles>): string {
  const input = known.get(id)?.format ?? '';
  return catalogue.canonical(isProcessing(operation) ? outputFormatOf(operation, payload.output_format, input) : input);
}

function setKnown(known: Map<string, KnownFiles>, id: string, bytes: number, format: string | undefined): void {
  if (format !== undefined && format !== '') known.set(id, { bytes, format: catalogue.canonical(format) });
}
