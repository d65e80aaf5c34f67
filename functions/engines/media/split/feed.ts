import { constants, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runProgram } from '../../runtime/program.ts';
import type { MediaRun } from '../programs.ts';

const pollMs = 5;

/** Names of the pipes that stand for chunks in the list of a join. */
export function pipeNames(chunks: number): string[] {
  return Array.from({ length: chunks }, (_, index) => `chunk-${index}.pipe`);
}

/** Creates pipes. A program that opens one waits until it is written. */
export async function makePipes(names: string[], { folder, signal }: MediaRun): Promise<void> {
  await runProgram('mkfifo', names, { cwd: folder, signal });
}

/** Writes a pipe once a program opens it. Node would block a thread in the meantime. */
export async function writePipe(name: string, content: string, folder: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const opened = await open(join(folder, name), constants.O_WRONLY | constants.O_NONBLOCK);
      try {
        await opened.write(content);
      } finally {
        await opened.close();
      }
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENXIO')) throw error;
    }
    await pause(pollMs, undefined, { signal });
  }
}
