import { stripVTControlCharacters } from 'node:util';

export interface Outcome {
  result: 'passed' | 'failed' | 'skipped';
  /** The reason of a skip, or the last meaningful line. */
  detail: string;
  /** What a command did not check, with reasons. */
  leftOut: string[];
}

const byNpm = /^(?:npm |> )/;

/** Returns the outcome of a command from its output and exit code. */
export function outcomeOf(output: string, code: number | null): Outcome {
  const lines = stripVTControlCharacters(output).split(/\r?\n/);
  // Node prints its version below the stack trace of a fatal error.
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
