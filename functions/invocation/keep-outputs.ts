import { copyVersion, newToken, readVersion } from '../../shared/aws/objects.ts';
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

/**
 * Copies the outputs of the engine, which it posted for this run or another, to keys that no form covers, because the engine's form stays valid after the run. A
 * compromised engine may report anything and store too much, so the size of each object is checked as well.
 */
export async function keepOutputs(
  { task, attempt, signal }: { task: Task; attempt: RunName; signal: AbortSignal },
  outputs: StoredOutput[],
  maxOutputBytes: number,
  postedBy: RunName = attempt,
): Promise<StoredFile[]> {
  const names = uniqueNames(outputs.map((output) => outputName(output.name, output.format, task.payload.filename)));
  let bytes = 0;
  return await mapAtOnce(outputs, copiesAtOnce, async ({ format, etag }, index): Promise<StoredFile> => {
    const posted = postedKey(task.id, postedBy, index);
    const key = outputKey(task.id, attempt, index);
    const mediaType = catalogue.mediaType(format);
    const [isCopied, version] = await Promise.all([
      copyVersion({ key: posted, etag }, key, mediaType, signal),
      readVersion(posted, signal),
    ]);
    if (!isCopied || version?.etag !== etag) throw invalidResponse(`Output ${index} was not stored, or replaced.`);
    bytes += version.size;
    if (bytes > maxOutputBytes)
      throw invalidResponse(`Outputs of ${bytes} bytes were stored; the maximum is ${maxOutputBytes}.`);
    return {
      key,
      name: names[index] ?? '',
      size: version.size,
      format: catalogue.storedAs(format),
      mediaType,
      token: newToken(),
    };
  });
}
