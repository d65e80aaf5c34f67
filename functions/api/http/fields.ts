import * as z from 'zod';
import { isId } from '../../../shared/ids.ts';
import type { Refusal } from '../../../shared/operations/problems.ts';

// By default, zod compiles a parser for each object. That takes longer than parsing the few requests that most functions
// receive in their lifetime.
z.config({ jitless: true });

/** Returns the options of a check that JSON Schema cannot express. Its errors have a `reason`. */
export const refusal = (code: Refusal, message: string, path: string[] = []) => ({
  message,
  path,
  params: { refusal: code },
});

/** An ObjectID, with the message for anything else. */
export const idOf = (expected: string) =>
  z
    .string(expected)
    .refine(isId, expected)
    .meta({ pattern: '^[0-9a-f]{24}$', examples: ['6af9126cc0830000f25c62d1'] });
export const Id = idOf('Expected an id of 24 hexadecimal digits.');

/** A check for strings that may become program arguments, paths or keys, which cannot contain NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
export const withoutNul = [/^[^\x00]*$/, 'Expected a string without NUL characters.'] as const;

/** A non-empty string. */
export const text = (max: number, expected = 'Expected a string.') =>
  z
    .string(expected)
    .min(1, 'Expected a non-empty string.')
    .max(max, `Expected at most ${max} characters.`)
    .regex(...withoutNul);

/** One of these strings. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `Expected one of ${values.join(', ')}.`);

/** A number from 1 in a query string, whose values are text. */
export const count = (max: number, message: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, message)
    .meta({ type: 'integer', minimum: 1, maximum: max });

// The URL parser checks the host, because it accepts internationalized names.
const webUrl = /^https?:\/\/[^\s/?#\\]/i;
const bareUrl = (value: string) => {
  const url = URL.parse(value);
  return url === null || (url.username === '' && url.password === '');
};
export const Url = text(8192, 'Expected an http or https URL.')
  .regex(webUrl, 'Expected an http or https URL.')
  // Tasks show their URL, so it must not contain a password. Text before an @ could also be mistaken for the host.
  .refine(bareUrl, 'Expected a URL without a user name or password; import/url takes credentials as headers.')
  .refine(URL.canParse, refusal('invalid_url', 'Expected a URL with a valid host.'))
  .meta({
    pattern:
      "^[Hh][Tt][Tt][Pp][Ss]?://(?:[A-Za-z0-9.~!$&'()*+,;=_-]+|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?(?:[/?#][^\\s\\x00]*)?$",
    examples: ['https://example.com/file.png'],
  });
