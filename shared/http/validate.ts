import type { z } from 'zod';
import { type FieldErrors, invalidFields } from './errors.ts';

/** Checks a value against a schema, or throws the 400 that names every field to blame. */
export function parse<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidFields(fieldErrors(result.error));
}

/** Turns the findings of a schema into field paths with their messages. */
export function fieldErrors(error: z.ZodError, prefix: string[] = []): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const issue of error.issues) {
    const path = [...prefix, ...issue.path.map(String)].join('.') || 'body';
    errors.set(path, [...(errors.get(path) ?? []), issue.message]);
  }
  return Object.fromEntries(errors);
}
