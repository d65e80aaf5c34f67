import type { JsonObject, JsonValue } from '../../../shared/tasks/task.ts';

/**
 * Checks for data that crosses from the untrusted to the trusted side. Each returns the value with its checked type, or throws.
 */

/** Thrown if an engine sends or leaves what its own code would not: its process or its whole function was taken over. */
export class TamperedError extends Error {
  override name = 'TamperedError';
}

/** Limits for details, which are stored in the record of a task. */
const maxDetailsLength = 64 * 1024;
const maxDetailsDepth = 6;

/** Parses a line of JSON. */
export function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw unexpected('JSON', line);
  }
}

/** Returns an object's fields. */
export function fieldsOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw unexpected(`an object for ${name}`, value);
}

/** Returns a text of limited length. Defaults to no limit: a line of JSON has one. */
export function textOf(value: unknown, name: string, maxLength = Number.POSITIVE_INFINITY): string {
  if (typeof value === 'string' && value.length <= maxLength) return value;
  throw unexpected(`a string of at most ${maxLength} characters for ${name}`, value);
}

/** Returns a number within bounds. */
export function numberOf(value: unknown, name: string, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw unexpected(`a number from ${min} to ${max} for ${name}`, value);
}

/** Returns the checked items of a list of limited length. */
export function listOf<T>(value: unknown, name: string, maxLength: number, check: (item: unknown) => T): T[] {
  if (Array.isArray(value) && value.length <= maxLength) return value.map(check);
  throw unexpected(`at most ${maxLength} items for ${name}`, value);
}

/** Returns a JSON object of bounded size and depth. */
export function detailsOf(value: unknown, name: string, maxLength: number = maxDetailsLength): JsonObject {
  const isJson = isJsonWithin(value, maxDetailsDepth) && typeof value === 'object' && value !== null;
  if (isJson && !Array.isArray(value) && JSON.stringify(value).length <= maxLength) return value;
  throw unexpected(`a small JSON object for ${name}`, value);
}

function isJsonWithin(value: unknown, depth: number): value is JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth === 0) return false;
  return Object.values(value).every((item) => isJsonWithin(item, depth - 1));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Returns a text that is safe to log or show: shortened, and without the characters that control terminals and log readers. */
export function printable(text: string, maxLength: number): string {
  const clean = text.slice(0, maxLength).replaceAll(controlCharacters, '\ufffd');
  return text.length > maxLength ? `${clean} …` : clean;
}

/** Returns the error for an unexpected value. */
export function unexpected(expected: string, value: unknown): TamperedError {
  return new TamperedError(`Expected ${expected} but received ${shown(value)}.`);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `${JSON.stringify(printable(value, 200))} of ${value.length} characters`;
  if (Array.isArray(value)) return `${value.length} items`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
