import * as z from 'zod';
import { nearestName } from '../../../shared/operations/nearest-name.ts';
import { type FieldErrors, type Refusal, refusals } from '../../../shared/operations/problems.ts';
import { invalidFields } from './errors.ts';

/** Parses a value with a schema, or throws the 400 that names every invalid field. */
export function parse<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const malformed = malformedText(value);
  if (malformed)
    throw invalidFields({ [fieldName(malformed)]: ['Expected well-formed Unicode, without lone surrogates.'] });
  const result = schema.safeParse(value);
  const misspelled = misspelledFields(schema, value);
  if (!result.success)
    throw invalidFields({ ...misspelled, ...fieldErrors(result.error, value) }, refusalOf(result.error));
  if (Object.keys(misspelled).length > 0) throw invalidFields(misspelled, 'unknown_field');
  return result.data;
}

/** Unknown fields that are checked for typos. Bounded because clients control the number of fields. */
const maxUnknown = 100;

/** Returns the fields of an object that are not in its schema. */
export function unknownFields(schema: z.ZodType, value: unknown): string[] {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return [];
  const { shape } = schema;
  return Object.keys(value).filter((name) => !Object.hasOwn(shape, name));
}

/** Returns the unknown fields of an object whose names resemble those of absent fields, each with a hint. */
export function misspelledFields(schema: z.ZodType, value: unknown, prefix: string[] = []): FieldErrors {
  if (!(schema instanceof z.ZodObject)) return {};
  const absent = Object.keys(schema.shape).filter((name) => !Object.hasOwn(Object(value), name));
  const errors = unknownFields(schema, value)
    .slice(0, maxUnknown)
    .flatMap((name): [string, string[]][] => {
      const meant = nearestName(name, absent);
      return meant === undefined ? [] : [[fieldName([...prefix, name]), [didYouMean(name, meant)]]];
    });
  return Object.fromEntries(errors);
}

/** Returns the message for a misspelled field. */
export function didYouMean(name: string, meant: string): string {
  return `Unknown field ${JSON.stringify(name)}: did you mean ${meant}?`;
}

/** Returns why a value that matches its schema is refused, or undefined if it does not match. */
export function refusalOf(error: z.ZodError): Refusal | undefined {
  const [first, ...others] = error.issues.map((issue) => (issue.code === 'custom' ? issue.params?.refusal : undefined));
  return isRefusal(first) && others.every(isRefusal) ? first : undefined;
}

function isRefusal(code: unknown): code is Refusal {
  return typeof code === 'string' && Object.hasOwn(refusals, code);
}

/** No field of the API is nested deeper. */
const maxPathNames = 5;

/**
 * Returns the path to a string or field name with a lone surrogate, which UTF-8 cannot represent. Iterative, because
 * clients control the depth of the body.
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

/** Returns the issues of a schema with a value as field paths with their messages. */
export function fieldErrors(error: z.ZodError, value: unknown, prefix: string[] = []): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const issue of error.issues) {
    const path = fieldName([...prefix, ...issue.path.map(String)]);
    errors.set(path, [...(errors.get(path) ?? []), messageOf(issue, value)]);
  }
  return Object.fromEntries(errors);
}

/** Adds to a message what the schema does not know: whether the field is missing, and otherwise what was received. */
function messageOf({ code, path, message }: z.core.$ZodIssue, value: unknown): string {
  if (code !== 'invalid_type' && code !== 'invalid_union' && code !== 'invalid_value') return message;
  // A body that may be of several kinds has a message of its own.
  if (path.length === 0 && code === 'invalid_union') return message;
  const received = path.reduce<unknown>((current, name) => Object(current)[name], value);
  if (received === undefined) return path.length > 0 ? `The field is missing. ${message}` : message;
  const expected = path.length > 0 ? message.replace(/[.]$/, '') : 'Expected a JSON object';
  // A string is not repeated unless it must be one of a list, because it may be a secret.
  if (code === 'invalid_value' && typeof received === 'string')
    return `${expected} but received ${JSON.stringify(received.slice(0, maxShown).toWellFormed())}.`;
  return typeof received === 'string' ? message : `${expected} but received ${typeName(received)}.`;
}

const maxShown = 80;

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
