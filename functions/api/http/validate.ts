import type { z } from 'zod';
import { type FieldErrors, type Refusal, refusals } from '../../../shared/operations/problems.ts';
import { invalidFields } from './errors.ts';

/** Parses a value with a schema, or throws the 400 that names every invalid field. */
export function parse<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const malformed = malformedText(value);
  if (malformed)
    throw invalidFields({ [fieldName(malformed)]: ['Expected well-formed Unicode, without lone surrogates.'] });
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidFields(fieldErrors(result.error), refusalOf(result.error));
}

/** Returns why a value that matches its schema is refused, or undefined if it does not match. */
export function refusalOf(error: z.ZodError): Refusal | undefined {
  const [first, ...others] = error.issues.map((issue) => (issue.code === 'custom' ? issue.params?.refusal : undefined));
  return isRefusal(first) && others.every(isRefusal) ? first : undefined;
}

function isRefusal(code: unknown): code is Refusal {
  return typeof code === 'string' && Object.hasOwn(refusals, code);
}

/** Deeper than any field of the API. */
const maxPathNames = 5;

/**
 * Returns the path to a string or a field name with half of a surrogate pair, which no UTF-8 text can hold and so would
 * not reach its reader as it is. Without recursion: a client chooses how deep its body goes.
 */
function malformedText(value: unknown): string[] | undefined {
  const pending: { value: unknown; path: string[] }[] = [{ value, path: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: current, path } = next;
    if (typeof current === 'string' && !current.isWellFormed()) return path;
    if (typeof current !== 'object' || current === null) continue;
    for (const [name, member] of Object.entries(current)) {
      if (!name.isWellFormed()) return path;
      pending.push({ value: member, path: path.length < maxPathNames ? [...path, name] : path });
    }
  }
  return undefined;
}

function fieldName(path: string[]): string {
  return path.join('.') || 'body';
}

/** Returns the issues of a schema as field paths with their messages. */
export function fieldErrors(error: z.ZodError, prefix: string[] = []): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const issue of error.issues) {
    const path = fieldName([...prefix, ...issue.path.map(String)]);
    errors.set(path, [...(errors.get(path) ?? []), issue.message]);
  }
  return Object.fromEntries(errors);
}
