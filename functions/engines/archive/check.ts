import { tmpdir } from 'node:os';
import type { EngineCheck } from '../engine.ts';
import { runProgram } from '../program.ts';

const programs: [program: string, args: string[], name: string][] = [
  ['7zz', ['i'], '7-Zip'],
  ['bsdtar', ['--version'], 'libarchive'],
  ['prlimit', ['--version'], 'util-linux'],
];

/** Tries to start the programs that read and write archives. */
export const check: EngineCheck = async () => {
  for (const [program, args, name] of programs) {
    try {
      await runProgram(program, args, { cwd: tmpdir(), timeoutMs: 10_000 });
    } catch (error) {
      return `${name} does not run here: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
    }
  }
  return undefined;
};
