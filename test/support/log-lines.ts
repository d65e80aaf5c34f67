import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the lines of all functions' logs that name a task. */
export async function logLines(dataDirectory: string, taskId: string): Promise<string[]> {
  const folder = join(dataDirectory, 'logs');
  const logs = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  return logs.flatMap((log) => log.split('\n')).filter((line) => line.includes(taskId));
}
