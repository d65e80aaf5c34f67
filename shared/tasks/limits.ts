import type { Catalogue, EngineResources } from '../catalogue/catalogue.ts';
import { sizesOf } from '../catalogue/sizes.ts';
import { totalBytes } from '../files/total-bytes.ts';
import { type JsonObject, processingFailed, type StoredFile, type Task, type TaskFailure } from './task.ts';

/**
 * Maximum number of files of a task. Its record holds them all, and DynamoDB limits a record to 400 KB. With names of 200 bytes,
 * 500 files take 220 KB as JSON, and the item is never longer than its JSON.
 */
export const maxFilesPerTask = 500;

/** Maximum size of files and details in a record. The rest is left to its parameters, its links to other tasks and its state. */
export const maxResultBytes = 300_000;

/** More than any image of an engine takes unpacked. */
const imageGigabytes = 5;

/** How many files of a task are fetched or stored concurrently. Each holds up to four parts of 5 MB in memory. */
export const filesAtOnce = 4;

/** Returns the failure of a task whose result does not fit into its record; undefined if it fits. */
export function resultFailure(files: StoredFile[], details: JsonObject = {}): TaskFailure | undefined {
  if (files.length > maxFilesPerTask)
    return processingFailed(
      `The task has ${grouped(files.length)} files; one task has at most ${maxFilesPerTask}. Choose fewer pages, sheets or pictures, or split the input.`,
    );
  if (resultBytes(files, details) > maxResultBytes)
    return processingFailed(
      `The names of the ${files.length} files are too long to be kept with the task. Give shorter names or split the input.`,
    );
  return undefined;
}

/** Returns the maximum number of bytes that the files and the details of a task take in its record. */
export function resultBytes(files: unknown[], details: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(files)) + Buffer.byteLength(JSON.stringify(details));
}

/** Returns the maximum size of a file that a task imports: that of the service, or of its API key. */
export function maxFileBytesOf({ limits }: Pick<Task, 'limits'>, settings: { maxFileBytes: number }): number {
  return Math.min(settings.maxFileBytes, limits?.maxFileBytes ?? settings.maxFileBytes);
}

/**
 * Returns the maximum size of an engine's inputs: half of the largest disk that it may run on. Most conversions write about as
 * much as they read.
 */
export function maxInputBytes(resources: EngineResources): number {
  const { batchHours } = sizesOf(resources);
  return (batchHours > 0 ? batchDiskBytes(resources) : diskBytes(resources)) / 2;
}

/** Returns the size of the disk of an engine's jobs on AWS Batch, without the image, which is on the same disk. */
export function batchDiskBytes(resources: EngineResources): number {
  return (sizesOf(resources).batchDiskGigabytes - imageGigabytes) * 1024 ** 3;
}

/** Maximum size of a video that is converted in parts that read only their own bytes. */
export const maxSplitInputBytes = 100_000_000_000;

/** Returns whether an engine may convert a file in parts that read less than all of it. */
function readsInParts(
  catalogue: Catalogue,
  { splits }: Pick<EngineResources, 'splits'>,
  operation: string,
  [file, ...others]: Partial<Pick<StoredFile, 'format'>>[],
): boolean {
  if (!splits || !file?.format || others.length > 0) return false;
  if (operation !== 'convert' && operation !== 'compress') return false;
  return isIndexedVideo(catalogue, { format: file.format });
}

const indexedVideos = ['mp4', 'mov', 'm4v', '3gp', '3g2'];

/** Returns whether a video has the index of its pictures in one place, so that it can be read in parts. */
export function isIndexedVideo(catalogue: Catalogue, { format }: Pick<StoredFile, 'format'>): boolean {
  return indexedVideos.includes(catalogue.canonical(format));
}

/** Returns the size of an engine's disk in bytes; AWS counts in units of 1,024. */
export function diskBytes({ diskMegabytes }: Pick<EngineResources, 'diskMegabytes'>): number {
  return diskMegabytes * 1024 * 1024;
}

/** Returns the limit of processor time for inputs of this size, in seconds; undefined if the engine has no such limit. */
export function maxProcessorSeconds(
  { processorTime }: Pick<EngineResources, 'processorTime'>,
  inputs: Pick<StoredFile, 'size'>[],
): number | undefined {
  if (!processorTime) return undefined;
  const megabytes = totalBytes(inputs) / 1_000_000;
  return processorTime.baseSeconds + megabytes * processorTime.secondsPerMegabyte;
}

/** Returns why inputs are too large or too many for an engine; undefined if they are not. */
export function inputProblem(
  catalogue: Catalogue,
  engine: string,
  operation: string,
  files: (Pick<StoredFile, 'size'> & Partial<Pick<StoredFile, 'format'>>)[],
): string | undefined {
  const resources = catalogue.engines.find((candidate) => candidate.engine === engine)?.resources;
  if (!resources) return undefined;
  const size = totalBytes(files);
  // If it turns out that the video cannot be split, its task fails when it runs.
  const isInParts = readsInParts(catalogue, resources, operation, files);
  const limit = Math.max(isInParts ? maxSplitInputBytes : 0, maxInputBytes(resources));
  if (size > limit)
    return `The input has ${grouped(size)} bytes; this operation takes at most ${grouped(limit)} bytes in one task. Split the input or make it smaller first.`;
  // Each input becomes at least one file, unless they are merged.
  if (operation !== 'merge' && files.length > maxFilesPerTask)
    return `The input has ${grouped(files.length)} files; one task makes at most ${maxFilesPerTask}. Give them to several tasks.`;
  return undefined;
}

function grouped(number: number): string {
  return number.toLocaleString('en');
}
