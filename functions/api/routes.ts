import * as z from 'zod';
import { normalizedEmail } from '../../shared/accounts/account.ts';
import { roles, scopes } from '../../shared/accounts/caller.ts';
import { jobStatuses } from '../../shared/jobs/job.ts';
import { type OperationName, operationNames, processingOperations } from '../../shared/operations/operations.ts';
import type { Refusal } from '../../shared/operations/problems.ts';
import { chargeTask, deleteTask, endTask, type Permission, publishTask } from '../../shared/permissions.ts';
import { taskStatuses } from '../../shared/tasks/task.ts';
import { webhookEvents } from '../../shared/webhooks/webhook.ts';
import { endpointSchemas, JobRequest } from './creation/schemas.ts';
import { Id, refusal, text, Url } from './http/fields.ts';
import type { Route } from './http/route.ts';

const TaskPath = z.object({ taskId: Id });
const JobPath = z.object({ jobId: Id });
const WebhookPath = z.object({ webhookId: Id });
const KeyPath = z.object({ keyId: Id });
const MemberPath = z.object({ memberId: Id });

/** Values of a query string are text; a number there is digits and nothing else. */
const count = (max: number, message: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, message)
    .meta({ type: 'integer', minimum: 1, maximum: max });
const Paging = () => ({
  per_page: count(200, 'Expected an integer from 1 to 200.').optional().describe('Page size. Defaults to 50.'),
  page: count(1_000_000, 'Expected a page number from 1.').optional().describe('Page number. Defaults to 1.'),
});
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `Expected one of ${values.join(', ')}.`);
const includeOf = (...values: [string, ...string[]]) =>
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
    .describe(`What to add to the response: ${values.join(', ')}; several are comma-separated.`)
    .meta({ type: 'string', pattern: listPattern(values) });
/** Matches a list with spaces and empty elements, which the check above accepts. */
const listPattern = (values: string[]) => {
  const element = ` *(?:${values.join('|')})? *`;
  return `^${element}(?:,${element})*$`;
};

const Day = z.iso.date('Expected a day such as 2026-11-16.');
const maxExpirySeconds = 10 * 365 * 86_400;

/** A list of different values, so that what is stored is no longer than what it says. */
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
      .describe('Operations that it may create tasks of.'),
    formats: setOf(
      z
        .string('Expected a string.')
        .regex(/^\.?[A-Za-z0-9]{1,20}$/, 'Expected an extension.')
        .meta({ examples: ['png'] }),
      300,
    )
      .optional()
      .describe('Formats that its tasks may read and write.'),
    maxFileBytes: wholeAtLeast1().optional().describe('Largest file that it may import.'),
    requestsPerMinute: wholeAtLeast1().optional().describe('Requests that it may make in a minute.'),
    minutesPerMonth: atLeast(0).optional().describe('Conversion minutes that it may use in a month.'),
    minutesPerTask: atLeast(0).optional().describe('Conversion minutes that one task of it may use.'),
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
      .describe('Origins of the pages that may send it. Requests from no page are refused then, too.'),
  });
const KeyRequest = () =>
  z
    .object({
      name: text(100).describe('What the key is for.'),
      scopes: setOf(oneOf(scopes), scopes.length)
        .default(['read', 'process'])
        .describe('What it allows: to read tasks, jobs and webhooks, to create and end work, to manage the account.'),
      expires_in: z
        .int('Expected a number of seconds.')
        .min(1, 'Expected at least 1 second.')
        .max(maxExpirySeconds, `Expected at most ${maxExpirySeconds} seconds.`)
        .optional()
        .describe('Lifetime in seconds. Without it and expires_at the key does not expire.'),
      expires_at: z.iso
        .datetime('Expected a time such as 2030-01-31T00:00:00Z.')
        .refine((time) => Date.parse(time) > Date.now(), refusal('time_passed', 'Expected a time that has not passed.'))
        .optional()
        .describe('When the key expires.'),
      limits: Limits().default({}).describe('Limits of this key, beside those of its account.'),
    })
    .refine(
      ({ expires_in, expires_at }) => expires_in === undefined || expires_at === undefined,
      refusal('conflicting_parameters', 'Expected expires_in or expires_at, not both.', ['expires_at']),
    );
const Email = () => z.email('Expected an e-mail address.').max(254).transform(normalizedEmail);

const Ext = () => z.string().min(1).max(20).optional();
const FormatQuery = () =>
  z
    .object({
      input_format: Ext().describe('An input format, or * for all: lists its output formats.'),
      output_format: Ext().describe('An output format, or * for all: lists its input formats.'),
    })
    .refine((query) => query.input_format === undefined || query.output_format === undefined, {
      path: ['output_format'],
      message: 'Expected input_format or output_format, not both.',
      params: { refusal: 'conflicting_parameters' satisfies Refusal },
    });
// An unknown operation is a 404, as any other unknown path is, so the endpoint itself checks it.
const OperationPath = () =>
  z.object({
    operation: z
      .string()
      .describe(`${processingOperations.join(', ')}.`)
      .meta({ enum: processingOperations }),
  });
const OptionQuery = () => z.object({ input_format: Ext(), output_format: Ext() });

/** A page of the service itself: a redirect to another host would lend it the trust that people have in this one. */
const OwnPath = () =>
  z
    .string()
    .max(2_000)
    .regex(
      /^\/(?:[\w.~!$&'()*+,;=:@%?#-][\w.~!$&'()*+,;=:@%/?#-]*)?$/,
      'Expected a path of this service, such as /docs.',
    );

/** JSON-RPC as far as it concerns all messages; the protocol's own package checks the rest. */
const McpMessages = () => {
  const message = z.looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).optional().describe('Of a request, and of the response to it.'),
    method: z.string().optional().describe('Such as initialize, tools/list, tools/call.'),
    params: z.looseObject({}).optional(),
  });
  return z.union([message, z.array(message).min(1).max(50)], 'Expected a JSON-RPC 2.0 message, or up to 50 of them.');
};

const showJob = ['group:get', 'group:batchGet'] as const;
const listRecords = ['ownedTask:query', 'ownedJob:query', 'group:batchGet', 'counts:query', 'counts:update'] as const;
const deletePosted = ['uploads:list', 'uploads:delete'] as const;
const createTask = ['group:batchPut', 'group:get', 'idempotency:get', 'idempotency:put', 'account:get'] as const;
/** A task that is created with inputs becomes their dependent, and ends at once if one of them has failed. */
const linkTask = ['group:batchGet', 'group:update', 'group:put', 'work:send', ...publishTask] as const;
/** What tasks come with: files, forms to post files to, and secrets. */
const storeRequest = ['files:put', 'uploads:sign', 'secrets:put', 'passwords:put'] as const;
const importFromStore = [...createTask, 'secrets:put', 'work:send'] as const;
const processFiles = [...createTask, ...linkTask, 'passwords:put', 'passwords:delete'] as const;
const exportToStore = [...createTask, ...linkTask, 'secrets:put', 'secrets:delete'] as const;

const creates = <Name extends OperationName>(operation: Name, summary: string, permissions: readonly Permission[]) =>
  ({
    module: 'tasks/create-task',
    operation,
    method: 'POST',
    path: `/v1/process/${operation}`,
    summary,
    tag: operation.startsWith('import/') ? 'Imports' : operation.startsWith('export/') ? 'Exports' : 'Processing',
    access: 'key',
    bucket: 'create',
    scope: 'process',
    permissions,
    get body() {
      return endpointSchemas[operation];
    },
    success: 201,
    get refusals() {
      return refusalsOf(operation);
    },
    response: 'Task',
  }) as const satisfies Route;

const refusalsOf = (operation: OperationName): Refusal[] => {
  const schema = endpointSchemas[operation].shape;
  return [
    ...('input' in schema ? (['invalid_input'] as const) : []),
    ...('options' in schema ? (['unsupported_format', 'invalid_options'] as const) : []),
    ...('url' in schema || 'endpoint' in schema ? (['invalid_url'] as const) : []),
  ];
};

/**
 * Every endpoint, by the name of its function. The stack's functions, routes and roles, validation, the OpenAPI document
 * and its reference follow from these rows. Schemas are made when they are read, so that a function starts with its own only.
 */
export const routes = {
  'query-all-formats': {
    module: 'formats/query-all-formats',
    method: 'GET',
    path: '/v1/query/formats',
    summary: 'List all supported formats',
    tag: 'Formats and options',
    access: 'public',
    permissions: [],
    success: 200,
    response: 'FormatList',
  },
  'query-formats': {
    module: 'formats/query-formats',
    method: 'GET',
    path: '/v1/query/formats/{operation}',
    summary: 'List the formats that an operation reads or writes',
    tag: 'Formats and options',
    access: 'public',
    permissions: [],
    get params() {
      return OperationPath();
    },
    get query() {
      return FormatQuery();
    },
    refusals: ['conflicting_parameters'],
    success: 200,
    response: 'FormatList',
  },
  'query-options': {
    module: 'formats/query-options',
    method: 'GET',
    path: '/v1/query/options/{operation}',
    summary: 'List the options of an operation for a pair of formats',
    tag: 'Formats and options',
    access: 'public',
    permissions: [],
    get params() {
      return OperationPath();
    },
    get query() {
      return OptionQuery();
    },
    refusals: ['unsupported_format'],
    success: 200,
    response: 'OptionList',
  },
  'list-tasks': {
    module: 'tasks/list-tasks',
    method: 'GET',
    path: '/v1/process/tasks',
    summary: 'List tasks, newest first',
    tag: 'Tasks',
    access: 'key',
    scope: 'read',
    permissions: listRecords,
    get query() {
      return z.object({
        status: oneOf(taskStatuses).optional(),
        operation: z.string().max(100).optional(),
        job: Id.optional(),
        include: includeOf('payload', 'job'),
        ...Paging(),
      });
    },
    success: 200,
    response: 'TaskPage',
  },
  'show-task': {
    module: 'tasks/show-task',
    method: 'GET',
    path: '/v1/process/tasks/{taskId}',
    summary: 'Show a task',
    tag: 'Tasks',
    access: 'key',
    scope: 'read',
    permissions: ['group:get', 'group:batchGet'],
    params: TaskPath,
    get query() {
      return z.object({ include: includeOf('payload', 'job') });
    },
    success: 200,
    response: 'Task',
  },
  'wait-for-task': {
    module: 'tasks/wait-for-task',
    bucket: 'wait',
    method: 'GET',
    path: '/v1/process/tasks/{taskId}/wait',
    summary: 'Wait up to 25 seconds for a task to end, and show it',
    tag: 'Tasks',
    access: 'key',
    scope: 'read',
    permissions: ['group:get'],
    params: TaskPath,
    success: 200,
    response: 'Task',
  },
  'cancel-task': {
    module: 'tasks/cancel-task',
    method: 'POST',
    path: '/v1/process/tasks/{taskId}/cancel',
    summary: 'Cancel a task that has not ended',
    tag: 'Tasks',
    access: 'key',
    scope: 'process',
    permissions: [...endTask, ...chargeTask],
    params: TaskPath,
    success: 200,
    errors: [409],
    response: 'Task',
  },
  'delete-task': {
    module: 'tasks/delete-task',
    method: 'DELETE',
    path: '/v1/process/tasks/{taskId}',
    summary: 'Delete a task and its files',
    tag: 'Tasks',
    access: 'key',
    scope: 'process',
    permissions: [...endTask, ...chargeTask, ...deleteTask, ...deletePosted],
    params: TaskPath,
    success: 200,
  },
  'list-jobs': {
    module: 'jobs/list-jobs',
    method: 'GET',
    path: '/v1/process/jobs',
    summary: 'List jobs, newest first',
    tag: 'Jobs',
    access: 'key',
    scope: 'read',
    permissions: listRecords,
    get query() {
      return z.object({
        status: oneOf(jobStatuses).optional(),
        tag: z.string().max(1024).optional(),
        include: includeOf('tasks'),
        ...Paging(),
      });
    },
    success: 200,
    response: 'JobPage',
  },
  'create-job': {
    module: 'jobs/create-job',
    method: 'POST',
    path: '/v1/process/jobs',
    summary: 'Create a job with all its tasks',
    tag: 'Jobs',
    access: 'key',
    bucket: 'create',
    scope: 'process',
    permissions: [
      ...createTask,
      ...linkTask,
      ...storeRequest,
      'bus:put',
      'webhook:put',
      'secrets:delete',
      'passwords:delete',
      // To estimate the time that a job takes.
      'usage:query',
      'minutes:get',
    ],
    get query() {
      return z.object({
        dry_run: oneOf(['true', 'false'])
          .optional()
          .describe('With true nothing is created: the request is validated, and its conversion time estimated.'),
      });
    },
    get body() {
      return JobRequest();
    },
    alternative: { status: 200, response: 'DryRun', description: 'The request is valid (with dry_run=true).' },
    refusals: ['invalid_input', 'unsupported_format', 'invalid_options', 'invalid_url', 'address_refused'],
    success: 201,
    response: 'Job',
  },
  'show-job': {
    module: 'jobs/show-job',
    method: 'GET',
    path: '/v1/process/jobs/{jobId}',
    summary: 'Show a job with its tasks',
    tag: 'Jobs',
    access: 'key',
    scope: 'read',
    permissions: showJob,
    params: JobPath,
    get query() {
      return z.object({ include: includeOf('tasks') });
    },
    success: 200,
    response: 'Job',
  },
  'wait-for-job': {
    module: 'jobs/wait-for-job',
    bucket: 'wait',
    method: 'GET',
    path: '/v1/process/jobs/{jobId}/wait',
    summary: 'Wait up to 25 seconds for all tasks of a job to end, and show it',
    tag: 'Jobs',
    access: 'key',
    scope: 'read',
    permissions: showJob,
    params: JobPath,
    success: 200,
    response: 'Job',
  },
  'delete-job': {
    module: 'jobs/delete-job',
    method: 'DELETE',
    path: '/v1/process/jobs/{jobId}',
    summary: 'Delete a job, its tasks and their files',
    tag: 'Jobs',
    access: 'key',
    scope: 'process',
    permissions: [...endTask, ...chargeTask, ...deleteTask, ...deletePosted, 'group:query'],
    params: JobPath,
    success: 200,
  },
  'import-upload': {
    ...creates('import/upload', 'Import a file that the client posts to the returned form', [
      ...createTask,
      ...publishTask,
      'uploads:sign',
    ]),
    emptyBody: true,
  },
  'import-url': creates('import/url', 'Import a file from a URL', importFromStore),
  'import-base64': creates('import/base64', 'Import a small file sent in the request', [
    ...createTask,
    ...publishTask,
    'files:put',
  ]),
  'import-webpage': creates('import/webpage', 'Import a web page', [
    ...createTask,
    'work:send',
    // Without a browser on this instance the task fails at once.
    'group:put',
    ...publishTask,
  ]),
  'import-objstore-a': creates('import/objstore_a', 'Import from Amazon S3 or a compatible store', importFromStore),
  'import-objstore-b': creates('import/objstore_b', 'Import from Google Cloud Storage', importFromStore),
  'import-blobstore': creates('import/blobstore', 'Import from Azure Blob Storage', importFromStore),
  'import-sftp': creates('import/sftp', 'Import from an SFTP server', importFromStore),
  convert: creates('convert', 'Convert files to another format', processFiles),
  compress: creates('compress', 'Compress files', processFiles),
  merge: creates('merge', 'Merge documents, PDFs and images into one file', processFiles),
  crop: creates('crop', 'Crop images, videos or PDF pages', processFiles),
  trim: creates('trim', 'Trim audio or video', processFiles),
  'export-url': creates('export/url', 'Create temporary download links', [...createTask, ...linkTask]),
  'export-objstore-a': creates('export/objstore_a', 'Export to Amazon S3 or a compatible store', exportToStore),
  'export-objstore-b': creates('export/objstore_b', 'Export to Google Cloud Storage', exportToStore),
  'export-blobstore': creates('export/blobstore', 'Export to Azure Blob Storage', exportToStore),
  'export-sftp': creates('export/sftp', 'Export to an SFTP server', exportToStore),
  'account-token': {
    module: 'account/create-token',
    method: 'POST',
    path: '/v1/account/token',
    summary: 'Create a short-lived token for WebSockets, for the account or for one job',
    tag: 'Real time',
    access: 'key',
    scope: 'read',
    permissions: ['group:get', 'token:put'],
    get body() {
      return z.object({
        job: Id.optional().describe('Limits the token to this job and its tasks.'),
        expires_in: z
          .int('Expected a number of seconds.')
          .min(10, 'Expected at least 10 seconds.')
          .max(86_400, 'Expected at most 86400 seconds.')
          .default(3_600)
          .describe('Lifetime of the token in seconds.'),
      });
    },
    success: 201,
    errors: [404],
    response: 'Token',
  },
  'account-usage': {
    module: 'account/usage',
    method: 'GET',
    path: '/v1/account/usage',
    summary: 'Show the conversion time used, by day, operation, formats and API key',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['usage:query', 'minutes:get', 'account:get'],
    get query() {
      return z.object({
        from: Day.optional().describe('First day. Defaults to the first of this month.'),
        to: Day.optional().describe('Last day. Defaults to today.'),
      });
    },
    refusals: ['conflicting_parameters'],
    success: 200,
    response: 'Usage',
  },
  'webhook-create': {
    module: 'account/webhook-create',
    method: 'POST',
    path: '/v1/account/webhooks',
    summary: 'Register a webhook',
    tag: 'Real time',
    access: 'key',
    scope: 'account',
    permissions: ['webhook:query', 'webhook:put', 'accountSubscribers:update', 'audit:put'],
    get body() {
      return z.object({
        url: Url.describe('Receives a POST with the event and the job in its body.'),
        events: z
          .array(oneOf(webhookEvents))
          .min(1, 'Expected at least one event.')
          .default([...webhookEvents])
          .describe('Events that trigger a call. Defaults to all.'),
      });
    },
    success: 201,
    errors: [409],
    refusals: ['invalid_url', 'address_refused'],
    response: 'Webhook',
  },
  'webhook-list': {
    module: 'account/webhook-list',
    method: 'GET',
    path: '/v1/account/webhooks',
    summary: 'List webhooks',
    tag: 'Real time',
    access: 'key',
    scope: 'read',
    permissions: ['webhook:query'],
    success: 200,
    response: 'WebhookList',
  },
  'webhook-delete': {
    module: 'account/webhook-delete',
    method: 'DELETE',
    path: '/v1/account/webhooks/{webhookId}',
    summary: 'Delete a webhook',
    tag: 'Real time',
    access: 'key',
    scope: 'account',
    permissions: ['webhook:get', 'webhook:delete', 'accountSubscribers:update', 'audit:put'],
    params: WebhookPath,
    success: 200,
  },
  'webhook-deliveries': {
    module: 'account/webhook-deliveries',
    method: 'GET',
    path: '/v1/account/webhooks/{webhookId}/deliveries',
    summary: 'List the deliveries of a webhook with their attempts',
    tag: 'Real time',
    access: 'key',
    scope: 'read',
    permissions: ['webhook:get', 'delivery:query'],
    params: WebhookPath,
    success: 200,
    response: 'DeliveryList',
  },
  'webhook-replay': {
    module: 'account/webhook-replay',
    method: 'POST',
    path: '/v1/account/webhooks/{webhookId}/deliveries/{deliveryId}/replay',
    summary: 'Send a delivery again',
    tag: 'Real time',
    access: 'key',
    scope: 'account',
    permissions: ['webhook:get', 'delivery:get', 'delivery:put', 'webhooks:send'],
    get params() {
      return WebhookPath.extend({ deliveryId: z.string().min(1).max(100) });
    },
    success: 200,
    errors: [409],
    response: 'Delivery',
  },
  'account-me': {
    module: 'account/me',
    method: 'GET',
    path: '/v1/account/me',
    summary: 'Show the account and who is calling',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['account:get', 'account:batchGet', 'membership:query', 'minutes:get'],
    success: 200,
    response: 'Me',
  },
  'key-create': {
    module: 'account/key-create',
    method: 'POST',
    path: '/v1/account/keys',
    summary: 'Create an API key, which is shown this once',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['accountKey:query', 'accountKey:put', 'apiKey:put', 'audit:put'],
    get body() {
      return KeyRequest();
    },
    success: 201,
    errors: [409],
    refusals: ['conflicting_parameters', 'time_passed'],
    response: 'NewKey',
  },
  'key-list': {
    module: 'account/key-list',
    method: 'GET',
    path: '/v1/account/keys',
    summary: 'List API keys',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['accountKey:query', 'rate:get'],
    success: 200,
    response: 'KeyList',
  },
  'key-delete': {
    module: 'account/key-delete',
    method: 'DELETE',
    path: '/v1/account/keys/{keyId}',
    summary: 'Delete an API key, which stops working within 30 seconds',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: [
      'accountKey:get',
      'accountKey:delete',
      'apiKey:delete',
      'keyConnection:query',
      'events:send',
      'audit:put',
    ],
    params: KeyPath,
    success: 200,
  },
  'team-create': {
    module: 'account/team-create',
    method: 'POST',
    path: '/v1/account/teams',
    summary: 'Create a team, as a person who is signed in',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['account:batchGet', 'account:put', 'membership:query', 'membership:put', 'audit:put'],
    get body() {
      return z.object({ name: text(100).describe('What the team is called.') });
    },
    success: 201,
    errors: [409],
    response: 'Account',
  },
  'member-list': {
    module: 'account/member-list',
    method: 'GET',
    path: '/v1/account/members',
    summary: 'List members and pending invitations; a key needs the scope account for it',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['account:query'],
    success: 200,
    response: 'MemberList',
  },
  'member-invite': {
    module: 'account/member-invite',
    method: 'POST',
    path: '/v1/account/members',
    summary: 'Invite whoever signs in with an e-mail address to a team',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['account:query', 'account:put', 'invitation:put', 'audit:put'],
    get body() {
      return z.object({
        email: Email().describe('Becomes a member by signing in with it within 14 days.'),
        role: oneOf(roles).default('developer').describe('What the member may do: owners all, viewers only read.'),
      });
    },
    success: 201,
    errors: [409],
    response: 'Member',
  },
  'member-change': {
    module: 'account/member-change',
    method: 'POST',
    path: '/v1/account/members/{memberId}',
    summary: 'Change the role of a member',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['account:batchGet', 'account:update', 'audit:put'],
    params: MemberPath,
    get body() {
      return z.object({ role: oneOf(roles).describe('The new role.') });
    },
    success: 200,
    errors: [409],
    response: 'Member',
  },
  'member-remove': {
    module: 'account/member-remove',
    method: 'DELETE',
    path: '/v1/account/members/{memberId}',
    summary: 'Leave a team, or with the scope account remove a member or withdraw an invitation',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: [
      'account:get',
      'account:batchGet',
      'account:update',
      'account:delete',
      'membership:delete',
      'invitation:delete',
      'audit:put',
    ],
    params: MemberPath,
    success: 200,
    errors: [409],
  },
  'audit-list': {
    module: 'account/audit-list',
    method: 'GET',
    path: '/v1/account/audit',
    summary: 'List who changed keys, webhooks, members and roles in the last 90 days, newest first',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['audit:query'],
    get query() {
      return z.object({
        before: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('The id of an entry: lists what came before it. `next` of a response is the one to continue with.'),
        limit: count(200, 'Expected an integer from 1 to 200.').optional().describe('Entries to list. Defaults to 50.'),
      });
    },
    success: 200,
    response: 'AuditPage',
  },
  file: {
    module: 'files/download-file',
    method: 'GET',
    alsoHead: true,
    path: '/v1/files/{taskId}/{token}/{name}',
    summary: 'Download a file by the link in a result',
    tag: 'Files',
    access: 'public',
    permissions: ['group:get', 'files:sign'],
    get params() {
      return z.object({ taskId: Id, token: z.string().min(1), name: z.string().min(1) });
    },
    success: 302,
    json: false,
  },
  'sign-in': {
    module: 'sign-in/begin',
    method: 'GET',
    path: '/auth/sign-in',
    summary: 'Begin to sign in: redirects to the issuer',
    tag: 'Sign-in',
    access: 'public',
    permissions: ['attempt:put', 'issuer:locate'],
    get query() {
      return z.object({ return_to: OwnPath().optional().describe('Page to return to. Defaults to /.') });
    },
    success: 302,
    errors: [503],
    json: false,
  },
  'sign-in-callback': {
    module: 'sign-in/callback',
    method: 'GET',
    path: '/auth/callback',
    summary: 'Complete a sign-in: the issuer redirects here',
    tag: 'Sign-in',
    access: 'public',
    permissions: [
      'attempt:delete',
      'issuer:locate',
      ...(['person:get', 'person:put', 'person:update'] as const),
      ...(['account:get', 'account:batchGet', 'account:put', 'account:update', 'account:delete'] as const),
      ...(['membership:put', 'membership:query'] as const),
      ...(['invitation:query', 'invitation:update', 'invitation:delete'] as const),
      'audit:put',
      'signIn:put',
    ],
    get query() {
      return z.object({
        code: z.string().optional().describe('What the issuer gives an ID token for.'),
        state: z.string().optional().describe('Which sign-in it belongs to.'),
        iss: z.string().optional().describe('The issuer.'),
        error: z.string().optional().describe('Why the issuer refuses.'),
        error_description: z.string().optional().describe('The same, for people.'),
      });
    },
    success: 302,
    errors: [403, 503],
    refusals: ['unknown_sign_in'],
    json: false,
  },
  'sign-out': {
    module: 'sign-in/end',
    method: 'POST',
    path: '/auth/sign-out',
    summary: 'End the session of the cookie',
    tag: 'Sign-in',
    access: 'public',
    permissions: ['signIn:get', 'signIn:delete', 'issuer:locate'],
    success: 200,
    errors: [403],
    response: 'SignedOut',
  },
  health: {
    module: 'service/health',
    method: 'GET',
    path: '/health',
    summary: 'Show the version, which engines are usable, and where WebSockets connect',
    tag: 'Service',
    access: 'public',
    permissions: ['sockets:locate', 'engine:batchGet'],
    success: 200,
    response: 'Health',
  },
  openapi: {
    module: 'service/openapi',
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Return the OpenAPI 3.1 document of this API',
    tag: 'Service',
    access: 'public',
    permissions: [],
    success: 200,
  },
  mcp: {
    module: 'mcp/mcp',
    method: 'POST',
    path: '/mcp',
    summary:
      'Serve tools to agents by the Model Context Protocol: streamable HTTP with JSON responses, without sessions',
    tag: 'Agents',
    access: 'key',
    keyOnly: true,
    scope: 'read',
    permissions: [],
    get body() {
      return McpMessages();
    },
    refusals: ['invalid_message'],
    alternative: { status: 202, description: 'The body has notifications or responses only.' },
    success: 200,
    response: 'McpResponse',
  },
} as const satisfies Record<string, Route>;

export type EndpointName = keyof typeof routes;

/** Returns the row whose endpoint creates the tasks of an operation. */
export function routeOfOperation(operation: string) {
  for (const row of Object.values(routes)) if ('operation' in row && row.operation === operation) return row;
  throw new Error(`No endpoint creates tasks of the operation ${operation}.`);
}
