import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import type { LocalFunction } from '../template/model.ts';

export interface Logs {
  write(fn: Pick<LocalFunction, 'name'>, stream: 'stdout' | 'stderr', line: string): void;
  close(): Promise<void>;
}

/** Keeps a log file for each function, as a log group would, and reports errors to the console. */
export function openLogs(
  folder: string,
  report: (line: string) => void,
  onLine: (fn: Pick<LocalFunction, 'name'>, line: string) => void = () => {},
): Logs {
  mkdirSync(folder, { recursive: true });
  const files = new Map<string, WriteStream>();
  return {
    write(fn, stream, line) {
      let file = files.get(fn.name);
      if (!file) {
        file = createWriteStream(join(folder, `${fn.name}.log`), { flags: 'a' });
        files.set(fn.name, file);
      }
      file.write(`${line}\n`);
      onLine(fn, line);
      if (stream === 'stderr' || line.includes('"level":"ERROR"')) report(`${fn.name}: ${line.slice(0, 2_000)}`);
    },
    async close() {
      await Promise.all([...files.values()].map((file) => new Promise((resolve) => file.end(resolve))));
    },
  };
}
