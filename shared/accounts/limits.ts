import { defined } from '../defined.ts';
import type { Caller, KeyLimits, Scope } from './caller.ts';

/** What a new key is to be allowed. */
interface Rights {
  scopes: readonly Scope[];
  limits: KeyLimits;
  /** In milliseconds; absent where it never expires. */
  expiresAt?: number;
}

/** Returns the limits that the record of a task keeps, because its key may be deleted. Its meter has the others. */
export function limitsOfTask({ formats, maxFileBytes }: KeyLimits): KeyLimits {
  return defined({ formats, maxFileBytes });
}

/** Returns what is wrong with an operation for a key with these limits; undefined where it is allowed. */
export function operationProblem({ operations }: KeyLimits, operation: string): string | undefined {
  return operations === undefined || operations.includes(operation)
    ? undefined
    : expected(`one of ${listed(operations)}`, 'operations', quoted(operation));
}

/** Returns what is wrong with a format, by its canonical name, for a key with these limits; undefined where it is allowed. */
export function formatProblem({ formats }: KeyLimits, format: string): string | undefined {
  return formats === undefined || formats.includes(format)
    ? undefined
    : expected(`one of ${listed(formats)}`, 'formats', format === '' ? 'a file of an unknown format' : quoted(format));
}

/** Returns what is wrong with a size for a key with these limits; undefined where it is allowed. */
export function sizeProblem({ maxFileBytes }: KeyLimits, bytes: number): string | undefined {
  return maxFileBytes === undefined || bytes <= maxFileBytes
    ? undefined
    : expected(`a file of at most ${maxFileBytes} bytes`, 'maxFileBytes', 'a larger one');
}

/** Returns what is wrong with a file for a key with these limits; undefined where it is allowed. */
export function fileProblem(
  limits: KeyLimits,
  { format, size }: { format: string; size: number },
  canonical: (format: string) => string,
): string | undefined {
  return sizeProblem(limits, size) ?? formatProblem(limits, canonical(format));
}

/** Returns whether a request from a page of this origin, or from no page, may use a key with these limits. */
export function allowsOrigin({ origins }: KeyLimits, origin: string | undefined): boolean {
  return origins === undefined || (origin !== undefined && origins.includes(origin.toLowerCase()));
}

/** Returns what of the rights of a new key exceeds those of whoever makes it, by field. */
export function excessOf(
  { scopes, limits, expiresAt }: Pick<Caller, 'scopes' | 'limits' | 'expiresAt'>,
  key: Rights,
): Record<string, string[]> {
  const more = key.scopes.filter((scope) => !scopes.includes(scope));
  const isLater = expiresAt !== undefined && (key.expiresAt === undefined || key.expiresAt > expiresAt);
  const namesIn = (['operations', 'formats', 'origins'] as const).map(
    (name) => [`limits.${name}`, excessNames(limits[name], key.limits[name])] as const,
  );
  const numbersIn = (['maxFileBytes', 'requestsPerMinute', 'minutesPerMonth', 'minutesPerTask'] as const).map(
    (name) => [`limits.${name}`, excessNumber(limits[name], key.limits[name])] as const,
  );
  const problems = {
    scopes: more.length > 0 ? `Expected scopes among ${listed(scopes)} but received ${listed(more)}.` : undefined,
    expires_at: isLater
      ? `Expected an expiry of at most ${new Date(expiresAt).toISOString()}, that of your own key.`
      : undefined,
    ...Object.fromEntries([...namesIn, ...numbersIn]),
  };
  return Object.fromEntries(Object.entries(defined(problems)).map(([field, problem]) => [field, [problem]]));
}

function excessNames(own: string[] | undefined, given: string[] | undefined): string | undefined {
  if (own === undefined || given?.every((name) => own.includes(name))) return undefined;
  return `Expected a list with nothing but ${listed(own)}, as your own key has.`;
}

function excessNumber(own: number | undefined, given: number | undefined): string | undefined {
  if (own === undefined || (given !== undefined && given <= own)) return undefined;
  return `Expected a limit of at most ${own}, that of your own key.`;
}

function expected(what: string, limit: keyof KeyLimits, received: string): string {
  return `Expected ${what}, by the limit ${limit} of the API key, but received ${received}.`;
}

const maxListed = 20;

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > maxListed ? `, … ${names.length - maxListed} more` : '';
  return names.slice(0, maxListed).join(', ') + more;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
