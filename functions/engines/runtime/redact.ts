import { inspect } from 'node:util';
import { isSecretOption, type OptionValues } from '../../../shared/catalogue/options.ts';
import type { JsonValue } from '../../../shared/tasks/task.ts';

const mask = '***';
/** Shorter secrets occur within other words, so they are masked only as whole words. */
const minPartLength = 4;

/** Returns the values of secret options in a request. */
export function secretsOf(options: OptionValues): string[] {
  return secretsIn(Object.entries(options).flatMap(([name, value]) => (isSecretOption(name) ? [value] : [])));
}

/** Returns the values of all stored secrets. */
export function secretsIn(value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(secretsIn);
  return typeof value === 'string' || typeof value === 'number' ? [String(value)].filter(Boolean) : [];
}

/** Masks secrets in a text for the log, including the forms they have in JSON, URLs and Node's own messages. */
export function redact(text: string, secrets: readonly string[]): string {
  const spellings = new Set(secrets.flatMap(spellingsOf));
  // Longest first: a secret may be part of another.
  const patterns = [...spellings].sort((left, right) => right.length - left.length).map(patternOf);
  return patterns.length === 0 ? text : text.replace(new RegExp(patterns.join('|'), 'gu'), mask);
}

/** Masks secrets in an error and its causes. */
export function redactError(error: unknown, secrets: readonly string[]): void {
  if (!(error instanceof Error) || secrets.length === 0) return;
  const { message, stack } = error;
  error.message = redact(message, secrets);
  if (stack !== undefined) error.stack = redact(stack, secrets);
  redactError(error.cause, secrets);
}

function spellingsOf(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  return [
    wellFormed,
    JSON.stringify(wellFormed).slice(1, -1),
    encodeURIComponent(wellFormed),
    inspect(wellFormed).slice(1, -1),
  ];
}

function patternOf(spelling: string): string {
  const pattern = spelling.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return spelling.length < minPartLength ? `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])` : pattern;
}
