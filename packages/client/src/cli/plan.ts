import { basename, dirname, extname, join } from 'node:path';
import { OutputNames, sameFile, stemOf } from '../node/paths.ts';
import { isWebAddress } from '../source.ts';
import type { FoundInput } from './inputs.ts';
import { UsageError } from './usage.ts';

export interface Planned {
  input: string;
  /** All inputs, if several are merged into one output. */
  inputs?: string[];
  /** Path of the output; several files are numbered. */
  output: string;
}

/**
 * Plans the outputs, in a folder or next to each input. Outputs that would share a name keep the extension of the input
 * (x.jpg.webp, x.png.webp), or are numbered if that is also the same (x.webp, x-2.webp).
 */
export function planOutputs(
  inputs: FoundInput[],
  nameOf: (place: string) => string,
  out: string | undefined,
): Planned[] {
  const planned = inputs.map(({ input, place }) => {
    const folder = out ?? (isWebAddress(input) ? '.' : dirname(input));
    const below = out === undefined ? basename(place) : place;
    const output = join(folder, nameOf(below));
    return { input, output, whole: join(folder, `${below}${extname(output)}`) };
  });
  const sharing = new Map<string, string[]>();
  for (const { output, whole } of planned)
    sharing.set(sameFile(output), [...(sharing.get(sameFile(output)) ?? []), sameFile(whole)]);
  const wanted = planned.map(({ input, output, whole }) => {
    const wholes = sharing.get(sameFile(output)) ?? [];
    return { input, output: wholes.length > 1 && new Set(wholes).size === wholes.length ? whole : output };
  });
  const names = new OutputNames(wanted);
  return wanted.map(({ input, output }) => ({ input, output: names.take(input, output)[0] ?? output }));
}

/** Returns the name of an output in another format. */
export function inFormat(format: string): (place: string) => string {
  return (place) => `${stemOf(place)}.${format}`;
}

/** Returns the name of a file with a suffix, which it needs next to the original, and perhaps another format. */
export function withSuffix(suffix: string, format?: string): (place: string) => string {
  return (place) => `${stemOf(place)}${suffix}${format === undefined ? extname(place) : `.${format}`}`;
}

/** Reads arguments such as `in.docx out.pdf`. */
export function inputAndOutput(words: string[], command: string): { input: string; output: string } {
  const [input, output, ...others] = words;
  if (input === undefined || output === undefined || others.length > 0)
    throw new UsageError(
      `Expected an input and an output, or any number of inputs with --to or --out. See lathe help ${command}.`,
    );
  return { input, output };
}
