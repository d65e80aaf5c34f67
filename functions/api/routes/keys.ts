import * as z from 'zod';
import { scopes } from '../../../shared/accounts/caller.ts';
import { operationNames } from '../../../shared/operations/operations.ts';
import { Id, oneOf, refusal, text } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';

const maxExpirySeconds = 10 * 365 * 86_400;

/** Returns the schema of a list without duplicates, which limits the size of the stored key. */
const setOf = <T extends z.ZodType>(element: T, max: number) =>
  z
    .array(element, 'Expected a list.')
    .min(1, 'Expected at least one element.')
    .max(max, `Expected at most ${max} elements.`)
    .transform((values) => [...new Set(values)]);
const atLeast = (minimum: number) => z.number('Expected a number.').min(minimum, `Expected at least ${minimum}.`);
const wholeAtLeast1 = () => z.int('Expected an integer.').min(1, 'Expected at least 1.');
const Limits = () =>
  z.strictObject({
    operations: setOf(oneOf(operationNames), operationNames.length)
      .optional()
      .describe('Operations that the key can create tasks for.'),
    formats: setOf(
      z
        .string('Expected a string.')
        .regex(/^\.?[A-Za-z0-9]{1,20}$/, 'Expected an extension.')
        .meta({ examples: ['png'] }),
      300,
    )
      .optional()
      .describe('Formats that its tasks can read and write.'),
    maxFileBytes: wholeAtLeast1().optional().describe('Maximum size of an imported file.'),
    requestsPerMinute: wholeAtLeast1().optional().describe('Maximum requests per minute.'),
    minutesPerMonth: atLeast(0).optional().describe('Maximum conversion minutes per month.'),
    minutesPerTask: atLeast(0).optional().describe('Maximum conversion minutes per task.'),
    origins: setOf(
      z
        .string('Expected a string.')
        .max(300)
        .regex(/^https?:\/\/[^\s/?#\\@]+$/, 'Expected an origin such as https://example.com.')
        .transform((origin) => origin.toLowerCase())
        .meta({ examples: ['https://example.com'] }),
      50,
    )
      .optional()
      .describe('Origins of the pages that can use the key. Requests without an Origin header are refused, too.'),
  });
const KeyRequest = () =>
  z
    .object({
      name: text(100).describe('Purpose of the key.'),
      scopes: setOf(oneOf(scopes), scopes.length)
        .default(['read', 'process'])
        .describe(
          'Permissions of the key: read tasks, jobs and webhooks; create and end tasks and jobs; manage the account.',
        ),
      expires_in: z
        .int('Expected a number of seconds.')
        .min(1, 'Expected at least 1 second.')
        .max(maxExpirySeconds, `Expected at most ${maxExpirySeconds} seconds.`)
        .optional()
        .describe('Lifetime in seconds. Without expires_in or expires_at, the key does not expire.'),
      expires_at: z.iso
        .datetime('Expected a time such as 2030-01-31T00:00:00Z.')
        .refine((time) => Date.parse(time) > Date.now(), refusal('time_passed', 'Expected a time in the future.'))
        .optional()
        .describe('When the key expires.'),
      limits: Limits().default({}).describe('Limits of this key, in addition to those of its account.'),
    })
    .refine(
      ({ expires_in, expires_at }) => expires_in === undefined || expires_at === undefined,
      refusal('conflicting_parameters', 'Expected expires_in or expires_at, not both.', ['expires_at']),
    );

export const keyRoutes = {
  'key-create': {
    module: 'account/keys/create-key',
    ...keyed('POST', '/v1/account/keys', 'account', 'Account'),
    summary: 'Create an API key (shown only once)',
    permissions: ['accountKey:query', 'accountKey:put', 'apiKey:put', 'audit:put'],
    body: KeyRequest,
    success: 201,
    errors: [409],
    refusals: ['conflicting_parameters', 'time_passed'],
    response: 'NewKey',
  },
  'key-list': {
    module: 'account/keys/list-keys',
    ...keyed('GET', '/v1/account/keys', 'account', 'Account'),
    summary: 'List API keys',
    permissions: ['accountKey:query', 'rate:get'],
    response: 'KeyList',
  },
  'key-delete': {
    module: 'account/keys/delete-key',
    ...keyed('DELETE', '/v1/account/keys/{keyId}', 'account', 'Account'),
    summary: 'Delete an API key (it stops working within 30 seconds)',
    permissions: [
      'accountKey:get',
      'accountKey:delete',
      'apiKey:delete',
      'keyConnection:query',
      'events:send',
      'audit:put',
    ],
    params: () => z.object({ keyId: Id }),
  },
} as const satisfies Record<string, Route>;
