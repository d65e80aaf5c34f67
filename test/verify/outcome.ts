import { stripVTControlCharacters } from 'node:util';

export interface Outcome {
  result: 'passed' | 'failed' | 'skipped';
  /** The reason of a skip, or the last line that says something. */
  detail: string;
  /** What a command that ran did not check, with its reasons. */
  leftOut: string[];
}

const byNpm = /^(?:npm |> )/;

/** Returns what became of a command, from its output and its exit code. */
export function outcomeOf(output: string, code: number | null): Outcome {
  const lines = stripVTControlCharacters(output).split(/\r?\n/);
  // Node prints its version below the stack trace of the error that ended it.
  const isCrash = lines.some((line) => line.startsWith('Node.js v'));
  const saysSomething = (line: string) =>
    isCrash ? /^\[?\w*Error\b.*: /.test(line) : line.trim() !== '' && !byNpm.test(line);
  const last = lines.findLast(saysSomething)?.trim() ?? 'printed nothing';
  if (code !== 0) return { result: 'failed', detail: last, leftOut: [] };
  const skipped = lines.flatMap((line) => /^Skipped: (.*)/.exec(line)?.[1] ?? [])[0];
  if (skipped !== undefined) return { result: 'skipped', detail: skipped, leftOut: [] };
  const leftOut = lines.filter((line) => /^(?:\s*left out: |Skipped \d+ in )/.test(line)).map((line) => line.trim());
  return { result: 'passed', detail: last, leftOut };
}
