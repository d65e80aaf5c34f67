import { inspect } from 'node:util';
import { isSecretOption, type OptionValues } from '../../../shared/catalogue/options.ts';
import type { JsonValue } from '../../../shared/tasks/task.ts';

const mask = '***';
/** Shorter secrets are parts of many words, so they are masked only as words of their own. */
const minPartLength = 4;

/** Returns the values of those options of a request that are secret. */
export function secretsOf(options: OptionValues): string[] {
  return secretsIn(Object.entries(options).flatMap(([name, value]) => (isSecretOption(name) ? [value] : [])));
}

/** Returns all values of stored secrets, whatever parameters they belong to. */
export function secretsIn(value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(secretsIn);
  return typeof value === 'string' || typeof value === 'number' ? [String(value)].filter(Boolean) : [];
}

/** Masks secrets in a text for the log, also as JSON, URLs and Node's own messages spell them. */
export function redact(text: string, secrets: readonly string[]): string {
  const spellings = new Set(secrets.flatMap(spellingsOf));
  // A secret may be a part of another.
  const patterns = [...spellings].sort((left, right) => right.length - left.length).map(patternOf);
  return patterns.length === 0 ? text : text.replace(new RegExp(patterns.join('|'), 'gu'), mask);
}

/** Masks secrets in an error, and in those that caused it. */
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
