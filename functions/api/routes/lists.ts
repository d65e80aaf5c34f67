import * as z from 'zod';
import { count } from '../http/fields.ts';

/** Permissions of the endpoints that list tasks or jobs. */
export const listRecords = [
  'ownedTask:query',
  'ownedJob:query',
  'group:batchGet',
  'counts:query',
  'counts:update',
] as const;

/** Returns the query parameters of a paginated list. */
export const paging = () => ({
  per_page: count(200, 'Expected an integer from 1 to 200.').optional().describe('Page size. Defaults to 50.'),
  page: count(1_000_000, 'Expected a page number from 1.').optional().describe('Page number. Defaults to 1.'),
});

/** Returns the schema of the query parameter `include`, a comma-separated list of these values. */
export const includeOf = (...values: [string, ...string[]]) =>
  z
    .string()
    .optional()
    .transform((text, context) => {
      const given = (text ?? '')
        .split(',')
        .map((value) => value.trim())
        .filter(Boolean);
      const unknown = given.find((value) => !values.includes(value));
      if (unknown !== undefined)
        context.addIssue({
          code: 'custom',
          message: `Expected ${values.join(', ')} but received ${JSON.stringify(unknown)}.`,
        });
      return given;
    })
    .describe(`Fields to add to the response, comma-separated: ${values.join(', ')}.`)
    .meta({ type: 'string', pattern: listPattern(values) });

/** Returns a pattern that allows spaces and empty elements, which the check accepts too. */
function listPattern(values: string[]): string {
  const element = ` *(?:${values.join('|')})? *`;
  return `^${element}(?:,${element})*$`;
}
