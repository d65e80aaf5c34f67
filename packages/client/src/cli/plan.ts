import { basename, dirname, extname, join } from 'node:path';
import { stemOf } from '../node/paths.ts';
import { isWebAddress } from '../source.ts';
import type { FoundInput } from './inputs.ts';
import { UsageError } from './usage.ts';

/** An input and where its output goes. */
export interface Planned {
  input: string;
  /** The inputs, where one output is made of several. */
  inputs?: string[];
  /** Path of the output; several files are numbered. */
  output: string;
}

/** Plans the outputs of inputs: below a folder, or beside each of them; what two would share is named after the whole input. */
export function planOutputs(
  inputs: FoundInput[],
  nameOf: (place: string) => string,
  out: string | undefined,
): Planned[] {
  const planned = inputs.map(({ input, place }) => {
    const folder = out ?? (isWebAddress(input) ? '.' : dirname(input));
    const below = out === undefined ? basename(place) : place;
    return { input, place: below, folder, output: join(folder, nameOf(below)) };
  });
  const count = new Map<string, number>();
  for (const { output } of planned) count.set(output, (count.get(output) ?? 0) + 1);
  return planned.map(({ input, place, folder, output }) => ({
    input,
    output: (count.get(output) ?? 0) > 1 ? join(folder, `${place}${extname(output)}`) : output,
  }));
}

/** Returns the name of an output in another format. */
export function inFormat(format: string): (place: string) => string {
  return (place) => `${stemOf(place)}.${format}`;
}

/** Returns the name of a compressed file beside, or apart from, the original. */
export function compressedName(beside: boolean): (place: string) => string {
  return (place) => (beside ? `${stemOf(place)}-compressed${extname(place)}` : place);
}

/** Splits a line such as `in.docx out.pdf` into input and output. */
export function inputAndOutput(words: string[], command: string): { input: string; output: string } {
  const [input, output, ...others] = words;
  if (input === undefined || output === undefined || others.length > 0)
    throw new UsageError(
      `Expected an input and an output, or --to or --out with any number of inputs: lathe help ${command}.`,
    );
  return { input, output };
}
