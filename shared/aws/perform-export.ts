import { Logger } from '@aws-lambda-powertools/logger';
import { outputKey } from '../files/keys.ts';
import { exportedNames } from '../files/names.ts';
import { totalBytes } from '../files/total-bytes.ts';
import type { StoredFile, Task } from '../tasks/task.ts';
import { copyObject, newToken } from './objects.ts';

/** S3 copies about this many bytes per second within a bucket. Larger exports are left to a worker. */
const maxBytes = 50_000_000;
const maxFiles = 4;

const logger = new Logger({ serviceName: 'lathe' });

/**
 * Performs an export/url task that copies a few small files, and returns them; undefined for any other task. A message
 * and a second worker would take many times as long as the copy.
 */
export async function performExport(task: Task, inputs: Task[]): Promise<StoredFile[] | undefined> {
  if (task.operation !== 'export/url' || task.payload.archive_multiple_files === true) return undefined;
  const files = inputs.flatMap((input) => input.files);
  const size = totalBytes(files);
  if (files.length === 0 || files.length > maxFiles || size > maxBytes) return undefined;
  try {
    const exported = await copyFiles(task, files);
    logger.info('exported in place', { taskId: task.id, jobId: task.job, files: exported.length });
    return exported;
  } catch (error) {
    // A worker retries it, and reports the cause if it fails.
    logger.warn('an export is left to a worker', { taskId: task.id, jobId: task.job, error });
    return undefined;
  }
}

function copyFiles(task: Task, files: StoredFile[]): Promise<StoredFile[]> {
  const names = exportedNames(files, task.payload.filename);
  return Promise.all(
    files.map(async (file, index): Promise<StoredFile> => {
      const key = outputKey(task.id, 0, index);
      await copyObject(file.key, key);
      return { ...file, key, name: names[index] ?? file.name, token: newToken() };
    }),
  );
}
