import { LatheError } from './errors.ts';
import type { CallOptions, OptionList, Options } from './types.ts';

/** The part of the client that lists options. */
interface OptionQueries {
  options(from: string, to: string | undefined, query: CallOptions & { operation: string }): Promise<OptionList>;
}

export interface OptionUse {
  operation: string;
  /** Input formats; options of any of them are accepted. */
  from: Iterable<string>;
  /** Output format; defaults to that of the operation. */
  to?: string | undefined;
  options: Options;
}

/** Throws if the operation has no option of a given name, so that a typing error is found before files are uploaded. */
export async function checkOptionNames(
  lathe: OptionQueries,
  { operation, from, to, options }: OptionUse,
  { signal }: CallOptions,
): Promise<void> {
  const formats = [...new Set(from)].filter((format) => format !== '');
  const names = Object.keys(options);
  if (names.length === 0 || formats.length === 0) return;
  const lists = await Promise.all(
    formats.map((format) => lathe.options(format, to, { operation, signal }).catch(unlessUnsupported)),
  );
  // The content may be of another format than the name says: the service decides.
  if (lists.includes(undefined)) return;
  const known = [...new Set(lists.flatMap((list) => list?.options.map(({ name }) => name) ?? []))].sort();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = known.find((name) => isNear(name, unknown));
  const problem = [
    `${operation} has no such option for ${formats.join(', ')}${to === undefined ? '' : ` to ${to}`}.`,
    near === undefined ? `Options: ${known.join(', ') || 'none'}.` : `Did you mean ${near}?`,
  ].join(' ');
  throw new LatheError('bad_request', `options.${unknown}: ${problem}`, {
    reason: 'invalid_options',
    errors: { [`options.${unknown}`]: [problem] },
  });
}

function unlessUnsupported(error: unknown): undefined {
  if (!(error instanceof LatheError) || error.status !== 400) throw error;
}

/** Returns whether two names differ only in a place of up to two characters. */
export function isNear(left: string, right: string): boolean {
  const [length, shorter] = [Math.max(left.length, right.length), Math.min(left.length, right.length)];
  let [start, end] = [0, 0];
  while (start < shorter && left[start] === right[start]) start += 1;
  while (start + end < shorter && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  return length - start - end <= 2;
}
