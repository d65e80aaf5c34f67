import * as z from 'zod';
import { auditActions } from '../../../shared/accounts/audit.ts';
import { roles, scopes } from '../../../shared/accounts/caller.ts';
import { jobStatuses } from '../../../shared/jobs/job.ts';
import { processingOperations } from '../../../shared/operations/operations.ts';
import { refusalNames } from '../../../shared/operations/problems.ts';
import { taskErrorCodes, taskStatuses } from '../../../shared/tasks/task.ts';
import { webhookEvents } from '../../../shared/webhooks/webhook.ts';
import { Id } from './fields.ts';

const Timestamp = z.iso.datetime();

const File = z.object({
  url: z.url(),
  filename: z.string(),
  size: z.int(),
  format: z.string().describe('Extension without a dot, detected from the content.'),
  media_type: z.string(),
});

/** The same in responses, events and webhooks, so that clients can order states from different channels. */
const Version = z
  .int()
  .min(1)
  .describe('Increases with every change of this task or job. The state with the higher version is newer.');

const Ignored = z
  .array(z.string())
  .optional()
  .describe(
    'Unknown fields of the request that were ignored. Only in the response to the creation request; absent if there are none.',
  );

const Task = z.object({
  id: Id,
  version: Version,
  name: z.string(),
  operation: z.string(),
  status: z.enum(taskStatuses),
  payload: z.record(z.string(), z.unknown()).describe('The parameters of the task; secrets are masked or emptied.'),
  dependsOn: z.array(Id),
  job: Id.optional(),
  jobDetails: z.looseObject({ id: Id }).optional().describe('The job without its tasks, with include=job.'),
  user: Id,
  progress: z.number().optional().describe('Percent, if the engine reports it.'),
  result: z.looseObject({
    url: z.url().optional().describe('Link to the first output file.'),
    files: z.array(File).optional().describe('Every output file, in order.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('Parts of the input that could not be converted. Absent if there are none.'),
    form: z
      .object({
        url: z.url(),
        parameters: z.record(z.string(), z.string()),
        endpoint: z
          .url()
          .optional()
          .describe('Address for uploading the file in parts, such as the companionEndpoint of Uppy.'),
      })
      .optional(),
    errorCode: z.enum(taskErrorCodes).optional(),
    msg: z.string().optional(),
    conversionSeconds: z
      .number()
      .optional()
      .describe('Engine time of the task, excluding waiting and transfers. Absent if no engine ran.'),
    parts: z
      .object({
        total: z.int(),
        done: z.int(),
        running: z.int(),
        seconds_left: z.int().optional().describe('Estimated time until the end of the task.'),
      })
      .optional()
      .describe('How far a long video or document is that is converted in parts. Absent once the task has ended.'),
    estimate: z
      .object({ conversionSeconds: z.number(), parts: z.int().optional() })
      .optional()
      .describe(
        'Engine time that was expected of a large video or document, and the number of its parts if it was split.',
      ),
    split_reason: z.string().optional().describe('Why a large video or document was not converted in parts.'),
  }),
  createdAt: Timestamp,
  startedAt: Timestamp.nullable(),
  endedAt: Timestamp.nullable(),
  updatedAt: Timestamp,
  expiresAt: Timestamp.describe('When the record is deleted. Files are deleted earlier.'),
  truncated: z
    .literal(true)
    .optional()
    .describe(
      'Present if the list exceeds the 6 MB limit of a response and payload, dependsOn and most of result are omitted. GET /v1/process/tasks/{taskId} returns them.',
    ),
  warnings: Ignored,
});

const Job = z.object({
  id: Id,
  version: Version,
  tag: z.string().optional(),
  status: z.enum(jobStatuses),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  startedAt: Timestamp.nullable(),
  endedAt: Timestamp.nullable(),
  expiresAt: Timestamp,
  result: z.object({
    errorCode: z.enum(['task_failed', 'task_deleted', 'task_canceled']).optional(),
    msg: z.string().optional(),
  }),
  conversionSeconds: z.number().optional().describe('Engine time of the tasks in this response.'),
  tasks: z.array(Task).optional(),
  tasksTruncated: z
    .literal(true)
    .optional()
    .describe(
      'Present if the tasks exceed the 6 MB limit of a response. GET /v1/process/tasks?job=<id>&page=… lists them all.',
    ),
  webhook: z
    .object({
      id: Id,
      url: z.string(),
      secret: z.string().describe('Secret for verifying signatures. Shown only once.'),
    })
    .optional()
    .describe('The webhook of webhook_url. Only in the response to the creation request.'),
  warnings: Ignored,
});

const page = <T extends z.ZodType>(document: T) =>
  z.object({
    docs: z.array(document),
    totalDocs: z.int(),
    limit: z.int(),
    totalPages: z.int(),
    page: z.int(),
    pagingCounter: z.int().describe('Position of the first document of this page, from 1.'),
    hasPrevPage: z.boolean(),
    hasNextPage: z.boolean(),
    prevPage: z.int().nullable(),
    nextPage: z.int().nullable(),
  });

const Option = z.object({
  name: z.string(),
  label: z.string().optional(),
  hint: z.string(),
  data_type: z.enum(['boolean', 'string', 'number', 'integer']),
  default_value: z.string(),
  type: z.string(),
  enum_values: z.array(z.object({ value: z.string(), hint: z.string(), label: z.string().optional() })).optional(),
  units: z.string().optional(),
  properties: z
    .object({ min: z.number().optional(), max: z.number().optional(), pattern: z.string().optional() })
    .optional(),
  conditions: z.array(
    z.object({
      name: z.string(),
      required: z.boolean(),
      meta: z.array(z.object({ value: z.union([z.string(), z.number(), z.boolean()]), label: z.string() })),
    }),
  ),
});

const WebhookFields = z.object({
  id: Id,
  url: z.string(),
  events: z.array(z.enum(webhookEvents)),
  createdAt: Timestamp,
  disabledAt: Timestamp.nullable().describe('When the webhook was disabled because the receiver responded with 410.'),
});

const Delivery = z.object({
  id: z.string(),
  event: z.enum(webhookEvents),
  job: Id,
  status: z.enum(['pending', 'delivered', 'failed']),
  createdAt: Timestamp,
  nextAttemptAt: Timestamp.nullable(),
  attempts: z.array(
    z.object({
      at: Timestamp,
      status: z.int().nullable().describe('HTTP status of the response, if there was one.'),
      latencyMs: z.int(),
      error: z.string().optional(),
    }),
  ),
});

const Month = z.object({
  month: z.string().describe('The current month, such as 2026-11.'),
  allowanceMinutes: z.number().nullable().describe('Conversion minutes that the account can use; null if not limited.'),
  remainingMinutes: z
    .number()
    .nullable()
    .describe('Minutes that are neither used nor reserved by running tasks; null if not limited.'),
});

const UsageSum = {
  conversionSeconds: z
    .number()
    .describe('Engine time, excluding waiting, transfers and runs that failed because of an internal error.'),
  tasks: z.int(),
};

const Limits = z.object({
  operations: z.array(z.string()).optional(),
  formats: z.array(z.string()).optional(),
  maxFileBytes: z.int().optional(),
  requestsPerMinute: z.int().optional(),
  minutesPerMonth: z.number().optional(),
  minutesPerTask: z.number().optional(),
  origins: z.array(z.string()).optional(),
});

const Actor = z.object({
  type: z.enum(['key', 'person', 'operator']),
  id: z.string().optional().describe('The id of the key or person.'),
});

const ImageKeyFields = z.object({
  id: Id,
  name: z.string(),
  url: z.url().describe('Base URL of its images, for clients of imgproxy.'),
  sources: z.array(
    z.union([
      z.object({ host: z.string(), prefix: z.string().optional() }),
      z.object({
        bucket: z.string(),
        region: z.string(),
        access_key_id: z.string(),
        endpoint: z.string().optional(),
        prefix: z.string().optional(),
      }),
    ]),
  ),
  presets: z.record(z.string(), z.string()),
  presets_only: z.boolean(),
  signature_size: z.int(),
  max_age: z.int(),
  watermark: z.string().nullable(),
  createdAt: Timestamp,
  createdBy: Actor,
});

const KeyFields = z.object({
  id: Id,
  name: z.string(),
  start: z.string().describe('First characters of the key, for identification.'),
  scopes: z.array(z.enum(scopes)),
  limits: Limits,
  createdAt: Timestamp,
  createdBy: Actor,
  expiresAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
});

const Account = z.object({ id: Id, kind: z.enum(['personal', 'team']), name: z.string() });
const AccountOfPerson = Account.extend({ role: z.enum(roles) });

const Member = z.object({
  id: Id,
  status: z.enum(['active', 'invited']),
  email: z.string(),
  name: z.string().optional(),
  role: z.enum(roles),
  since: Timestamp.describe('When the member joined or was invited.'),
  expiresAt: Timestamp.optional().describe('When the invitation expires.'),
});

const McpMessage = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});

/** Response schemas, by their names in the route table. */
export const responseSchemas = {
  Task,
  Job,
  TaskPage: page(Task),
  JobPage: page(Job),
  FormatList: z.object({
    formats: z.array(
      z.object({
        ext: z.string(),
        media_type: z.string(),
        alias_of: z.string().optional().describe('The format that this is another name of: `jpeg` is `jpg`.'),
      }),
    ),
  }),
  UploadParameters: z.object({ method: z.literal('POST'), url: z.url(), fields: z.record(z.string(), z.string()) }),
  StartedUpload: z.object({
    key: z.string(),
    uploadId: z.string(),
    partSize: z.int().optional().describe('Size of every part but the last, if the request declared the size.'),
  }),
  SignedPart: z.object({ url: z.url() }),
  UploadPartList: z.array(z.object({ PartNumber: z.int(), Size: z.int(), ETag: z.string() })),
  CompletedUpload: z.object({ location: z.url().describe('URL of the task.'), key: z.string() }),
  AbortedUpload: z.object({}),
  OptionList: z.object({
    sourceExt: z.string(),
    targetExt: z.string(),
    operation: z.enum(processingOperations),
    options: z.array(Option),
  }),
  DryRun: z.object({
    valid: z.literal(true),
    warnings: Ignored,
    conversionSeconds: z.number().describe('Expected engine time of all tasks.'),
    remainingMinutes: z
      .number()
      .nullable()
      .describe('Conversion minutes that the account has left this month; null if they are not limited.'),
    tasks: z.array(
      z.object({
        name: z.string(),
        operation: z.string(),
        conversionSeconds: z.number(),
        basis: z
          .enum(['measured', 'history', 'typical'])
          .describe(
            'measured: speed of such conversions, for the size of the input; history: average of the same conversion in the last 30 days; typical: default of the engine.',
          ),
        estimate: z
          .object({ seconds: z.number(), bytes: z.int() })
          .optional()
          .describe(
            'Expected engine time and size of the output, if the input is known and such conversions were measured.',
          ),
      }),
    ),
  }),
  Usage: z.object({
    from: z.iso.date(),
    to: z.iso.date(),
    ...UsageSum,
    days: z
      .array(
        z.object({
          date: z.iso.date(),
          ...UsageSum,
          operations: z.record(z.string(), z.number()).describe('Seconds by operation.'),
          formats: z.array(z.object({ input_format: z.string(), output_format: z.string(), ...UsageSum })),
          keys: z.record(z.string(), z.number()).describe('Seconds by the id of the API key.'),
        }),
      )
      .describe('Days with usage.'),
    month: Month,
  }),
  Token: z.object({ token: z.string(), job: Id.optional(), expiresAt: Timestamp }),
  Webhook: WebhookFields.extend({ secret: z.string().describe('Secret for verifying signatures. Shown only once.') }),
  WebhookList: z.object({ docs: z.array(WebhookFields) }),
  Me: z.object({
    account: Account,
    scopes: z.array(z.enum(scopes)).describe('Scopes of the caller.'),
    key: z
      .object({ id: Id, name: z.string(), limits: Limits, expiresAt: Timestamp.nullable() })
      .optional()
      .describe('The API key that was sent.'),
    person: z
      .object({
        id: z.string(),
        email: z.string(),
        name: z.string(),
        role: z.enum(roles),
        accounts: z.array(AccountOfPerson).describe('Accounts that the person is a member of.'),
        csrf: z
          .string()
          .optional()
          .describe('Value of the Lathe-CSRF header, required for state-changing requests of a page.'),
      })
      .optional()
      .describe('The person who is signed in.'),
    rateLimits: z.object({
      requestsPerMinute: z.int().nullable().describe('Maximum requests per minute; null if not limited.'),
    }),
    retention: z.object({
      fileSeconds: z.int().describe('Time after which files are deleted, in seconds.'),
      recordSeconds: z.int().describe('Time after which jobs and tasks are deleted, in seconds.'),
    }),
    minutes: Month,
  }),
  NewKey: KeyFields.extend({ key: z.string().describe('The key itself. Shown only once.') }),
  KeyList: z.object({ docs: z.array(KeyFields) }),
  NewImageKey: ImageKeyFields.extend({
    key: z.string().describe('Key of signatures, hexadecimal: IMGPROXY_KEY. Shown only once.'),
    salt: z.string().describe('Salt of signatures, hexadecimal: IMGPROXY_SALT. Shown only once.'),
  }),
  ImageKeyList: z.object({ docs: z.array(ImageKeyFields) }),
  Account: AccountOfPerson,
  Member,
  MemberList: z.object({ docs: z.array(Member) }),
  AuditPage: z.object({
    docs: z.array(
      z.object({
        id: z.string(),
        at: Timestamp,
        action: z.enum(auditActions),
        subject: z.string().describe('Id of the changed resource.'),
        name: z.string().optional().describe('Name of the changed resource.'),
        scopes: z.array(z.string()).optional(),
        role: z.string().optional(),
        actor: Actor,
        address: z.string().optional().describe('The IP address of the client.'),
        agent: z.string().optional().describe('User-Agent of the client, shortened.'),
      }),
    ),
    next: z.string().nullable().describe('Value of `before` for the next page; null on the last page.'),
  }),
  Delivery,
  DeliveryList: z.object({ docs: z.array(Delivery) }),
  Health: z.object({
    status: z.literal('ok'),
    version: z.string(),
    engines: z.array(
      z.object({
        name: z.string(),
        usable: z.boolean().describe('Whether any of its conversions is available on this instance.'),
        reason: z.string().optional().describe('Why it is not usable.'),
        missing: z
          .array(
            z.object({
              name: z.string(),
              reason: z.string(),
              hint: z.string().optional().describe('A command that installs it.'),
            }),
          )
          .optional()
          .describe(
            'Programs and packages that are not installed on this instance. Conversions that need them are unavailable.',
          ),
        isolation: z
          .object({
            barriers: z
              .record(z.string(), z.object({ stands: z.boolean(), reason: z.string().optional() }))
              .describe('Each isolation barrier of its programs, with a reason if it is not in effect.'),
            reportedAt: z.iso.datetime(),
          })
          .optional()
          .describe('What the engine last reported about its isolation; absent if it has not run yet.'),
      }),
    ),
    websocket: z.object({
      url: z.url().describe('URL for plain WebSocket clients.'),
      socketIo: z.object({
        url: z.url().describe('URL for Socket.IO clients.'),
        path: z.string().describe('The `path` option of Socket.IO clients.'),
      }),
    }),
  }),
  McpResponse: z.union([McpMessage, z.array(McpMessage)]),
  SignedOut: z.object({
    url: z.url().describe('URL to open, which also ends the session at the issuer.'),
  }),
  Error: z.object({
    errorCode: z.string(),
    msg: z.string(),
    errors: z.record(z.string(), z.array(z.string())).optional().describe('Maps each invalid field to its problems.'),
    reason: z.enum(refusalNames).optional().describe('Why a request that matches the schema was refused.'),
    requestId: z.string().optional(),
  }),
} as const;
