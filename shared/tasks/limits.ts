import type { Catalogue, EngineResources } from '../catalogue/catalogue.ts';
import type { JsonObject, StoredFile, TaskFailure } from './task.ts';

/**
 * Files that one task may have. A record holds them all and DynamoDB 400 KB a record: with names of 200 bytes, 500 files
 * take 220 KB as JSON, which is never shorter than the item.
 */
export const maxFilesPerTask = 500;

/** What files and details may take of a record together; the rest is for its parameters, its links to other tasks and its state. */
export const maxResultBytes = 300_000;

/** How many files of a task are fetched or stored in parallel: each holds up to four parts of 5 MB in memory. */
export const filesAtOnce = 4;

/** Returns the failure of a task whose result would not fit its record; undefined where it fits. */
export function resultFailure(files: StoredFile[], details: JsonObject = {}): TaskFailure | undefined {
  if (files.length > maxFilesPerTask)
    return failed(
      `The task has ${grouped(files.length)} files; one task has at most ${maxFilesPerTask}. Choose fewer pages, sheets or pictures, or split the input.`,
    );
  if (resultBytes(files, details) > maxResultBytes)
    return failed(
      `The names of the ${files.length} files are too long to be kept with the task. Give shorter names or split the input.`,
    );
  return undefined;
}

/** Returns how many bytes the files and the details of a task take of its record at most. */
export function resultBytes(files: unknown[], details: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(files)) + Buffer.byteLength(JSON.stringify(details));
}

/**
 * Returns how many bytes the inputs of an engine's task may have: half of its disk. The other half is for what is made
 * of them, which for most conversions is about as much.
 */
export function maxInputBytes({ diskMegabytes }: EngineResources): number {
  return diskBytes({ diskMegabytes }) / 2;
}

/** Returns the size of an engine's disk, which AWS counts in units of 1,024. */
export function diskBytes({ diskMegabytes }: Pick<EngineResources, 'diskMegabytes'>): number {
  return diskMegabytes * 1024 * 1024;
}

/** Returns the seconds of processor time that inputs may take of an engine by their size; undefined if the engine has no such limit. */
export function maxProcessorSeconds(
  { processorTime }: Pick<EngineResources, 'processorTime'>,
  inputs: Pick<StoredFile, 'size'>[],
): number | undefined {
  if (!processorTime) return undefined;
  const megabytes = inputs.reduce((sum, { size }) => sum + size, 0) / 1_000_000;
  return processorTime.baseSeconds + megabytes * processorTime.secondsPerMegabyte;
}

/** Returns why an engine cannot work on inputs of this size and number; undefined where it can. */
export function inputProblem(
  catalogue: Catalogue,
  engine: string,
  operation: string,
  files: Pick<StoredFile, 'size'>[],
): string | undefined {
  const resources = catalogue.engines.find((candidate) => candidate.engine === engine)?.resources;
  if (!resources) return undefined;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const limit = maxInputBytes(resources);
  if (size > limit)
    return `The input has ${grouped(size)} bytes; this operation takes at most ${grouped(limit)} bytes in one task. Split the input or make it smaller first.`;
  // Each input becomes a file at least, but for those that are merged.
  if (operation !== 'merge' && files.length > maxFilesPerTask)
    return `The input has ${grouped(files.length)} files; one task makes at most ${maxFilesPerTask}. Give them to several tasks.`;
  return undefined;
}

function failed(msg: string): TaskFailure {
  return { errorCode: 'processing_failed', msg };
}

function grouped(number: number): string {
  return number.toLocaleString('en');
}
