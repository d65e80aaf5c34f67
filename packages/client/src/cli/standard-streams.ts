import { LatheError } from '../errors.ts';
import type { Lathe } from '../lathe.ts';
import type { Input } from '../source.ts';
import type { ResultFile } from '../types.ts';
import type { Output } from './terminal.ts';
import { UsageError } from './usage.ts';

/** Returns whether an argument stands for standard input or output. */
export function isStandard(word: string): boolean {
  return word === '-';
}

let isRead = false;

/** Returns an input to send: a path, a URL, or the content of standard input. */
export async function inputOf(word: string, format: string | undefined): Promise<Input> {
  if (!isStandard(word)) return word;
  if (isRead) throw new UsageError('Expected standard input as one of the inputs but received - twice.');
  isRead = true;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const blob = new Blob(chunks);
  if (blob.size === 0) throw new LatheError('empty_input', 'Expected a file on standard input, which is empty.');
  return new File([blob], format === undefined ? 'stdin' : `stdin.${format}`);
}

/** Writes the file of a result to standard output. */
export async function writeStandard(
  lathe: Lathe,
  files: ResultFile[],
  out: Output['out'],
  signal: AbortSignal,
): Promise<void> {
  const [file] = files;
  if (file === undefined || files.length > 1)
    throw new LatheError(
      'several_files',
      `Standard output takes one file but the result has ${files.length}. Name an output, such as -o page.jpg.`,
    );
  if (out.isTTY)
    throw new LatheError('terminal', 'A file is not written to a terminal. Name an output, or use a pipe.');
  for await (const chunk of lathe.read(file, { signal }))
    await new Promise<void>((resolve, reject) => {
      out.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
}
