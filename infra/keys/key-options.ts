import { scopes as allScopes, type KeyLimits, type Scope } from '../../shared/accounts/caller.ts';
import { defined } from '../../shared/defined.ts';
import { operationNames } from '../../shared/operations/operations.ts';

/** Command-line options for the rights of a key, for `parseArgs`. */
export const rightsOptions = {
  scopes: { type: 'string' },
  expires: { type: 'string' },
  operations: { type: 'string' },
  formats: { type: 'string' },
  origins: { type: 'string' },
  'max-file-bytes': { type: 'string' },
  'requests-per-minute': { type: 'string' },
  'minutes-per-month': { type: 'string' },
  'minutes-per-task': { type: 'string' },
} as const;

/** Their usage text. */
export const rightsUsage = `  --scopes <list>   of read, process, account; defaults to all
  --expires <when>  a time such as 2030-01-31T00:00:00Z, or a number of days such as 90d; defaults to never
  --operations, --formats, --origins <list>
  --max-file-bytes, --requests-per-minute, --minutes-per-month, --minutes-per-task <number>
                    limits of the key; default to none`;

type Values = { [Name in keyof typeof rightsOptions]?: string | undefined };

/** A mistake on the command line. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Reads the rights of a key from command-line options, or throws a usage error. */
export async function readRights(
  values: Values,
  now: number = Date.now(),
): Promise<{ scopes?: Scope[]; limits: KeyLimits; expiresAt?: string }> {
  const given = listOf(values.scopes);
  const scopes = given && allScopes.filter((scope) => given.includes(scope));
  checkAmong('scopes', given, allScopes);
  const expiresAt = values.expires === undefined ? undefined : expiryOf(values.expires, now);
  return defined({ scopes, expiresAt, limits: await limitsOf(values) });
}

async function limitsOf(values: Values): Promise<KeyLimits> {
  const operations = listOf(values.operations);
  checkAmong('operations', operations, operationNames);
  const formats = listOf(values.formats);
  const origins = listOf(values.origins);
  const wrong = origins?.find((origin) => !/^https?:\/\/[^\s/?#\\@]+$/.test(origin));
  if (wrong !== undefined) throw new UsageError(`Expected origins such as https://example.com but received ${wrong}.`);
  return defined({
    operations,
    formats: formats && (await canonical(formats)),
    maxFileBytes: limitOf(values, 'max-file-bytes', 1),
    requestsPerMinute: limitOf(values, 'requests-per-minute', 1),
    minutesPerMonth: limitOf(values, 'minutes-per-month', 0),
    minutesPerTask: limitOf(values, 'minutes-per-task', 0),
    origins,
  });
}

/** Loads the catalogues on demand, because that takes most of the command's time. */
async function canonical(formats: string[]): Promise<string[]> {
  const { catalogue } = await import('../../functions/catalogue/catalogues.ts');
  return [...new Set(formats.map((format) => catalogue.canonical(format)))];
}

function listOf(text: string | undefined): string[] | undefined {
  return text?.split(',').map((name) => name.trim());
}

function checkAmong(option: string, given: string[] | undefined, names: readonly string[]): void {
  const wrong = given?.find((name) => !names.includes(name));
  if (wrong !== undefined)
    throw new UsageError(`Expected names among ${names.join(', ')} for --${option} but received ${wrong || 'none'}.`);
}

function limitOf(values: Values, option: keyof Values, minimum: number): number | undefined {
  const text = values[option];
  return text === undefined ? undefined : numberOf(text, `--${option}`, minimum);
}

/** Reads a number from the command line, an integer if the minimum is above 0, or throws a usage error. */
export function numberOf(text: string, option: string, minimum: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < minimum || (minimum > 0 && !Number.isInteger(value)))
    throw new UsageError(`Expected a number of at least ${minimum} for ${option} but received ${text}.`);
  return value;
}

function expiryOf(text: string, now: number): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const time = days === undefined ? Date.parse(text) : now + Number(days) * 86_400_000;
  if (!(time > now)) throw new UsageError(`Expected a future time for --expires but received ${text}.`);
  return new Date(time).toISOString();
}
