import { copyVersion, newToken, type ObjectVersion, readVersion } from '../../shared/aws/objects.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { outputKey, postedKey, type RunName } from '../../shared/files/keys.ts';
import { uniqueNames } from '../../shared/files/names.ts';
import type { StoredFile, Task } from '../../shared/tasks/task.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import type { OutputInParts, RemoteOutput, StoredOutput } from '../engines/runtime/protocol.ts';
import type { LargeUpload } from './large-upload.ts';
import { invalidResponse } from './parse-response.ts';
import { outputName } from './plan-run.ts';

/** S3 copies within the bucket, so no data passes through this process. */
const copiesAtOnce = 16;

/** Returns the outputs that an engine stored; all of them, unless it was asked to return them. */
export function storedOf(outputs: RemoteOutput[]): StoredOutput[] {
  return outputs.filter((output) => 'etag' in output);
}

interface FileRun {
  task: Task;
  attempt: RunName;
  signal: AbortSignal;
}

/** A file that an engine stored by a form. */
interface PostedFile extends StoredOutput {
  key: string;
}

interface KeptFrom {
  /** The run that posted the outputs, if it is another one of the task. */
  postedBy?: RunName;
  /** The upload for an output in parts. */
  large?: LargeUpload | undefined;
}

/**
 * Copies the outputs that an engine posted out of the reach of its form, and completes the one that it stored in parts. Outputs
 * in the response are not among them.
 */
export function keepOutputs(
  run: FileRun,
  outputs: RemoteOutput[],
  maxOutputBytes: number,
  { postedBy = run.attempt, large }: KeptFrom = {},
): Promise<StoredFile[]> {
  const files = outputs.flatMap((output, index): (PostedFile | OutputInParts)[] => {
    if ('content' in output) return [];
    return ['parts' in output ? output : postedFile({ ...run, attempt: postedBy }, output, index)];
  });
  return keepPosted(run, files, maxOutputBytes, large);
}

/** Checks that the outputs of a part are stored as reported, and returns their versions. */
export function checkPosted(run: FileRun, outputs: StoredOutput[]): Promise<ObjectVersion[]> {
  return mapAtOnce(outputs, copiesAtOnce, async (output, index) => {
    const { key, etag } = postedFile(run, output, index);
    return checkedVersion(await readVersion(key, run.signal), etag, index);
  });
}

function postedFile({ task, attempt }: FileRun, output: StoredOutput, index: number): PostedFile {
  return { ...output, key: postedKey(task.id, attempt, index) };
}

function checkedVersion(version: ObjectVersion | undefined, etag: string, index: number): ObjectVersion {
  if (version?.etag !== etag) throw invalidResponse(`Output ${index} was not stored, or replaced.`);
  return version;
}

/**
 * Copies files of the engine to keys that no form covers, because the engine's form stays valid after the run. A compromised
 * engine may report anything and store too much, so the size of each object is checked as well.
 */
export async function keepPosted(
  { task, attempt, signal }: FileRun,
  files: (PostedFile | OutputInParts)[],
  maxOutputBytes: number,
  large?: LargeUpload,
): Promise<StoredFile[]> {
  const names = uniqueNames(files.map((file) => outputName(file.name, file.format, task.payload.filename)));
  let bytes = 0;
  const copied = async ({ key: posted, etag }: PostedFile, key: string, mediaType: string, index: number) => {
    const [isCopied, version] = await Promise.all([
      copyVersion({ key: posted, etag }, key, mediaType, signal),
      readVersion(posted, signal),
    ]);
    const { size } = checkedVersion(isCopied ? version : undefined, etag, index);
    return { key, size };
  };
  const completed = async ({ parts }: OutputInParts) => {
    if (!large) throw invalidResponse('Received an output in parts without an upload for it.');
    return { key: large.key, size: await large.complete(parts, maxOutputBytes, signal) };
  };
  return await mapAtOnce(files, copiesAtOnce, async (file, index): Promise<StoredFile> => {
    const { format } = file;
    const mediaType = catalogue.mediaType(format);
    const { key, size } =
      'parts' in file
        ? await completed(file)
        : await copied(file, outputKey(task.id, attempt, index), mediaType, index);
    bytes += size;
    if (bytes > maxOutputBytes)
      throw invalidResponse(`Outputs of ${bytes} bytes were stored; the maximum is ${maxOutputBytes}.`);
    return {
      key,
      name: names[index] ?? '',
      size,
      format: catalogue.storedAs(format),
      mediaType,
      token: newToken(),
    };
  });
}
