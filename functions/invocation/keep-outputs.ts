import { copyVersion, newToken, type ObjectVersion, readVersion } from '../../shared/aws/objects.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { outputKey, postedKey, type RunName } from '../../shared/files/keys.ts';
import { uniqueNames } from '../../shared/files/names.ts';
import type { StoredFile, Task } from '../../shared/tasks/task.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import type { RemoteOutput, StoredOutput } from '../engines/runtime/protocol.ts';
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

/** Copies the outputs that an engine posted, for this run or another one of the task, out of the reach of its form. */
export function keepOutputs(
  run: FileRun,
  outputs: StoredOutput[],
  maxOutputBytes: number,
  postedBy: RunName = run.attempt,
): Promise<StoredFile[]> {
  return keepPosted(run, postedFiles({ ...run, attempt: postedBy }, outputs), maxOutputBytes);
}

/** Checks that the outputs of a part are stored as reported, and returns their versions. */
export function checkPosted(run: FileRun, outputs: StoredOutput[]): Promise<ObjectVersion[]> {
  return mapAtOnce(postedFiles(run, outputs), copiesAtOnce, async ({ key, etag }, index) =>
    checkedVersion(await readVersion(key, run.signal), etag, index),
  );
}

function postedFiles({ task, attempt }: FileRun, outputs: StoredOutput[]): PostedFile[] {
  return outputs.map((output, index) => ({ ...output, key: postedKey(task.id, attempt, index) }));
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
  files: PostedFile[],
  maxOutputBytes: number,
): Promise<StoredFile[]> {
  const names = uniqueNames(files.map((file) => outputName(file.name, file.format, task.payload.filename)));
  let bytes = 0;
  return await mapAtOnce(files, copiesAtOnce, async ({ key: posted, format, etag }, index): Promise<StoredFile> => {
    const key = outputKey(task.id, attempt, index);
    const mediaType = catalogue.mediaType(format);
    const [isCopied, version] = await Promise.all([
      copyVersion({ key: posted, etag }, key, mediaType, signal),
      readVersion(posted, signal),
    ]);
    const { size } = checkedVersion(isCopied ? version : undefined, etag, index);
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
