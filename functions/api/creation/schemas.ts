import * as z from 'zod';
import { isSecretOption } from '../../../shared/catalogue/options.ts';
import {
  fileRoles,
  isProcessing,
  type OperationName,
  operationNames,
  type ProcessingOperation,
  processingOf,
  roleNames,
} from '../../../shared/operations/operations.ts';
import { idOf, refusal, text, Url, withoutNul } from '../http/fields.ts';

/** One input or several. The spec requires an array, but published clients also send a string. */
const inputsOf = (input: z.ZodType<string>, message: string) =>
  z
    .union(
      [input, z.array(input).min(1, 'Expected at least one task.').max(1000, 'Expected at most 1000 tasks.')],
      message,
    )
    .transform((given) => (Array.isArray(given) ? given : [given]));
const Inputs = () =>
  inputsOf(text(100), 'Expected the id or name of a task, or an array of them.').describe(
    'Task to read files from: the name of a task in the same job, or the id of an earlier task. Can be an array.',
  );
const TaskId = idOf('Expected the id of a task, of 24 hexadecimal digits; names are valid only within a job.');
const EarlierInputs = () =>
  inputsOf(TaskId, 'Expected the id of a task, or an array of them.').describe(
    'Id of the task to read files from. Can be an array.',
  );
const MergeInputs = () =>
  z
    .array(TaskId, tooFewToMerge)
    .min(2, tooFewToMerge)
    .max(1000, 'Expected at most 1000 tasks.')
    .describe('Ids of the tasks to read files from, in this order.');
const Filename = () =>
  text(1024, 'Expected a file name such as report.docx.').describe('Overrides the name of the file.');
const Format = () =>
  text(20, 'Expected a format such as pdf.')
    .transform((format) => format.toLowerCase().replace(/^\./, ''))
    .describe('File extension without a dot.');
const maxOptions = 100;
/** A record, including these options, is limited to 400 KB. */
const maxOptionBytes = 32_768;
const Options = () =>
  z
    .record(
      z.string().max(100),
      z.union(
        [
          z
            .string()
            .max(maxOptionBytes)
            .regex(...withoutNul),
          z.number(),
          z.boolean(),
        ],
        'Expected a string without NUL characters, a number or a boolean.',
      ),
      'Expected an object of option names to values.',
    )
    .refine((options) => Object.keys(options).length <= maxOptions, `Expected at most ${maxOptions} options.`)
    .refine(
      (options) => Buffer.byteLength(JSON.stringify(options)) <= maxOptionBytes,
      refusal('invalid_options', `Expected options of at most ${maxOptionBytes} bytes of JSON.`),
    )
    .default({})
    .describe(`Options of the operation, as listed by the options query; at most ${maxOptionBytes} bytes of JSON.`)
    .meta({ maxProperties: maxOptions });

const maxBase64Characters = 1_500_000;
const tooLargeForBase64 = `Expected at most ${maxBase64Characters} characters of base64, which is a file of about 1 MB. Use import/upload or import/url for larger files.`;
const maxHtmlCharacters = 4_400_000;
const dataUri =
  '^[Dd][Aa][Tt][Aa]:[^,\\x00]*;[Bb][Aa][Ss][Ee]64,(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/]=|[A-Za-z0-9+/]{2})$';

const objstoreA = () => ({
  bucket: text(255).describe('Bucket of Amazon S3 or a compatible store.'),
  region: text(100).regex(/^[A-Za-z0-9-]+$/, 'Expected a region such as us-east-1.'),
  access_key_id: text(256)
    .optional()
    .describe('Omit together with secret_access_key if the deployment itself has access to the bucket.'),
  secret_access_key: text(1024).optional(),
  session_token: text(8192).optional(),
  endpoint: Url.optional().describe('Custom API endpoint. Defaults to that of the region.'),
});
const objstoreB = () => ({
  project_id: text(255).describe('Google Cloud project.'),
  bucket: text(255).describe('Bucket of Google Cloud Storage.'),
  client_email: text(320),
  private_key: text(16_384),
});
const blobstore = () => ({
  container: text(255).describe('Container of Azure Blob Storage.'),
  storage_account: text(24).regex(/^[a-z0-9]{3,24}$/, 'Expected 3 to 24 lower-case letters and digits.'),
  storage_access_key: text(1024).optional().describe('Required unless sas_token is given.'),
  sas_token: text(4096).optional(),
});
const notAPort = 'Expected a port number from 1 to 65535.';
const sftp = () => ({
  host: z.union([text(255), z.number()], 'Expected a host name or an IP address.').transform(String),
  port: z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^[0-9]{1,5}$/)
          .transform(Number),
      ],
      notAPort,
    )
    .refine((port) => port >= 1 && port <= 65_535, notAPort)
    .default(22)
    .meta({
      anyOf: [
        { type: 'integer', minimum: 1, maximum: 65_535 },
        {
          type: 'string',
          pattern: '^(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$',
        },
      ],
    }),
  username: text(255),
  password: text(1024).optional().describe('Required unless private_key is given.'),
  private_key: text(16_384).optional(),
  host_key_fingerprint: text(200).optional().describe('SHA-256 fingerprint that the host key of the server must have.'),
});

/** A condition on several fields, with the equivalent JSON Schema. */
interface Rule {
  holds(fields: Record<string, unknown>): boolean;
  path: string[];
  message: string;
  jsonSchema: Record<string, unknown> | undefined;
}

const together = (first: string, second: string): Rule => ({
  holds: (fields) => (fields[first] === undefined) === (fields[second] === undefined),
  path: [second],
  message: `Expected ${first} and ${second} together, or neither.`,
  jsonSchema: { dependentRequired: { [first]: [second], [second]: [first] } },
});
const either = (first: string, second: string): Rule => ({
  holds: (fields) => fields[first] !== undefined || fields[second] !== undefined,
  path: [first],
  message: `Expected ${first} or ${second}.`,
  jsonSchema: { anyOf: [{ required: [first] }, { required: [second] }] },
});
const exactlyOne = (first: string, second: string): Rule[] => [
  { ...either(first, second), jsonSchema: { oneOf: [{ required: [first] }, { required: [second] }] } },
  {
    holds: (fields) => fields[first] === undefined || fields[second] === undefined,
    path: [second],
    message: `Expected ${first} or ${second}, not both.`,
    jsonSchema: undefined,
  },
];
const keysTogether = together('access_key_id', 'secret_access_key');
const keyOrToken = either('storage_access_key', 'sas_token');
const passwordOrKey = either('password', 'private_key');

const rules: { readonly [Name in OperationName]?: readonly Rule[] } = {
  'import/objstore_a': [keysTogether, ...exactlyOne('key', 'key_prefix')],
  'import/blobstore': [keyOrToken],
  'import/sftp': [passwordOrKey],
  'export/objstore_a': [keysTogether, ...exactlyOne('key', 'key_prefix')],
  'export/objstore_b': exactlyOne('file', 'file_prefix'),
  'export/blobstore': [keyOrToken, ...exactlyOne('blob', 'blob_prefix')],
  'export/sftp': [passwordOrKey, ...exactlyOne('file_string', 'path_prefix')],
};

const withRules = (schema: z.ZodObject, checked: readonly Rule[]) =>
  checked.reduce((current, { holds, path, message }) => current.refine(holds, { path, message }), schema);

/** Adds conditions that a schema checks to its description in the OpenAPI document. */
function describedBy(schema: z.ZodObject, checked: readonly Rule[] = []): z.ZodObject {
  return checked.length === 0 ? schema : schema.meta({ allOf: checked.flatMap(({ jsonSchema }) => jsonSchema ?? []) });
}

/** Fields of an operation by an engine, unless the spec says otherwise. */
const processes = (operation: ProcessingOperation) => ({
  input: Inputs(),
  input_format: Format().optional(),
  output_format: Format().optional(),
  options: Options(),
  filename: Filename().optional(),
  ...roleFields(operation, Inputs),
});

/** Returns the fields of an operation for files in addition to its input. */
function roleFields(operation: OperationName, inputs: () => z.ZodType<string[]>): z.ZodRawShape {
  const { roles = {} } = isProcessing(operation) ? processingOf(operation) : {};
  return Object.fromEntries(
    roleNames.flatMap((role) => {
      if (!roles[role]) return [];
      const field = inputs().describe(`${fileRoles[role]} The name or id of a task, or an array of them.`);
      return [[role, roles[role] === 'required' ? field : field.optional()]];
    }),
  );
}

const headerValue = (max: number) => text(max).regex(/^[\x20-\x7e]*$/, 'Expected printable ASCII characters.');
const ContentHeaders = () => ({
  content_type: headerValue(255).optional().describe('Media type of the stored files. Defaults to that of each file.'),
  content_disposition: headerValue(1024).optional().describe('Content-Disposition header of the stored files.'),
});

const Extract = () => ({
  extract: z
    .boolean('Expected true or false.')
    .optional()
    .describe(
      'Store the files of a ZIP, such as those of HLS, below the prefix instead of the ZIP itself. They may not be compressed.',
    ),
});

/** Headers that the transfer sets itself, and headers of the connection. */
const ownHeaders =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|range|if-range|accept-encoding|proxy-.*)$/i;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const maxHeaderName = 256;
const maxHeaders = 50;
/** Makes a pattern case-insensitive. JSON Schema has no flag for that. */
const anyCase = (pattern: string) => pattern.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
const headerNames = {
  type: 'string',
  minLength: 1,
  maxLength: maxHeaderName,
  pattern: headerName.source,
  not: { pattern: anyCase(ownHeaders.source) },
};

/** Fields of operations in a job, without `operation`. Operations by engines have the same ones, with two exceptions. */
const fields: { readonly [Name in OperationName]?: () => z.ZodRawShape } = {
  'import/upload': () => ({}),
  'import/url': () => ({
    url: Url.describe('URL of the remote file.'),
    filename: Filename().optional(),
    headers: z
      .record(
        text(maxHeaderName).regex(headerName, 'Expected header names.'),
        z
          .string()
          .max(8192)
          .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'Expected a header value: Latin-1 characters without line breaks.'),
      )
      .refine((headers) => Object.keys(headers).length <= maxHeaders, `Expected at most ${maxHeaders} headers.`)
      .refine((headers) => !Object.keys(headers).some((name) => ownHeaders.test(name)), {
        message: 'Expected no header that Lathe sets itself, such as Host, Range and Accept-Encoding.',
      })
      .optional()
      .describe('Request headers, such as credentials. They are not sent to another origin on a redirect.')
      .meta({ maxProperties: maxHeaders, propertyNames: headerNames }),
  }),
  'import/base64': () => ({
    file: z
      .string('Expected a data URI of the form data:<media_type>;base64,<data>.')
      .min(1, 'Expected a non-empty string.')
      .max(maxBase64Characters, tooLargeForBase64)
      .regex(...withoutNul)
      .describe(
        'Content as a data URI: data:<media_type>;base64,<data>. Padding is optional, white space is ignored, and the URL-safe alphabet is accepted.',
      )
      .meta({ pattern: dataUri }),
    filename: Filename().describe('File name including extension.'),
  }),
  'import/webpage': () => ({ url: Url.describe('URL of the web page.'), filename: Filename().optional() }),
  'import/objstore_a': () => ({
    ...objstoreA(),
    key: text(1024).optional(),
    key_prefix: text(1024)
      .optional()
      .describe('Imports every file with this prefix, instead of key. Only available in jobs.'),
    filename: Filename().optional(),
  }),
  'import/objstore_b': () => ({
    ...objstoreB(),
    file: text(1024).describe('Object name in the bucket, including path.'),
    filename: Filename().optional(),
  }),
  'import/blobstore': () => ({
    ...blobstore(),
    blob: text(1024).describe('Blob name including path.'),
    filename: Filename().optional(),
  }),
  'import/sftp': () => ({
    ...sftp(),
    file_string: text(4096).describe('File name on the server, including path.'),
    filename: Filename().optional(),
  }),
  convert: () => ({ ...processes('convert'), output_format: Format() }),
  merge: () => ({
    input: Inputs(),
    output_format: z.enum(['pdf', 'gif'], 'Expected pdf or gif.'),
    filename: Filename().optional(),
    options: Options(),
  }),
  'export/url': () => ({
    input: Inputs(),
    filename: Filename().optional(),
    archive_multiple_files: z
      .boolean('Expected true or false.')
      .default(false)
      .describe('Return one ZIP of all files instead of a link to each.'),
  }),
  'export/objstore_a': () => ({
    input: Inputs(),
    ...objstoreA(),
    ...ContentHeaders(),
    key: text(1024).optional(),
    key_prefix: text(1024).optional(),
    ...Extract(),
  }),
  'export/objstore_b': () => ({
    input: Inputs(),
    ...objstoreB(),
    ...ContentHeaders(),
    file: text(1024).optional(),
    file_prefix: text(1024).optional(),
    ...Extract(),
  }),
  'export/blobstore': () => ({
    input: Inputs(),
    ...blobstore(),
    ...ContentHeaders(),
    blob: text(1024).optional(),
    blob_prefix: text(1024).optional(),
    ...Extract(),
  }),
  'export/sftp': () => ({
    input: Inputs(),
    ...sftp(),
    file_string: text(4096).optional(),
    path_prefix: text(4096).optional(),
    ...Extract(),
  }),
};

/** Returns the schema of each operation, which is built when it is first read. */
function eachLazily(make: (operation: OperationName) => z.ZodObject): Readonly<Record<OperationName, z.ZodObject>> {
  const made: Partial<Record<OperationName, z.ZodObject>> = {};
  for (const name of operationNames) {
    const get = () => {
      const value = make(name);
      Object.defineProperty(made, name, { value });
      return value;
    };
    Object.defineProperty(made, name, { get, enumerable: true, configurable: true });
  }
  // TypeScript cannot infer the type of properties that are defined in a loop.
  return made as Record<OperationName, z.ZodObject>;
}

function fieldsOf(operation: OperationName): z.ZodRawShape {
  const own = fields[operation];
  if (own) return own();
  if (isProcessing(operation)) return processes(operation);
  throw new Error(`The operation ${operation} has no fields.`);
}

/** Parameters of each operation in a job, without `operation`. */
export const operationSchemas = eachLazily((operation) =>
  describedBy(withRules(z.object(fieldsOf(operation)), rules[operation] ?? []), rules[operation]),
);

export const tooFewToMerge = 'Expected two or more tasks to merge.';

const oneFile: Rule = {
  holds: ({ key_prefix }) => key_prefix === undefined,
  path: ['key_prefix'],
  message: 'key_prefix is only available in jobs. Specify the key of one file.',
  jsonSchema: { required: ['key'] },
};

/** Parameters of the endpoints of operations. Unlike in a job, inputs are ids and each import reads one file. */
export const endpointSchemas = eachLazily((operation) => {
  const schema = operationSchemas[operation];
  const own = rules[operation] ?? [];
  if (operation === 'import/objstore_a') return describedBy(withRules(schema, [oneFile]), [oneFile, ...own]);
  if (!('input' in schema.shape)) return schema;
  const input = operation === 'merge' ? MergeInputs() : EarlierInputs();
  return describedBy(schema.safeExtend({ input, ...roleFields(operation, EarlierInputs) }), own);
});

/** Parameters of instant requests. The files come with the request, or the request names them. */
export const instantSchemas = eachLazily((operation) =>
  operationSchemas[operation].safeExtend({
    input: EarlierInputs().optional(),
    ...z.object(roleFields(operation, EarlierInputs)).partial().shape,
    url: Url.optional().describe('URL of a file, instead of a file in the request.'),
    html: text(maxHtmlCharacters).optional().describe('A page as HTML, instead of a file in the request.'),
  }),
);

/** Parameters that are never shown, logged or stored in a record. */
const secretParameters = new Set([
  'access_key_id',
  'secret_access_key',
  'session_token',
  'client_email',
  'private_key',
  'storage_access_key',
  'sas_token',
  'username',
  'password',
  'headers',
]);

/** Returns whether a parameter or option is a secret. */
export function isSecret(parameter: string): boolean {
  return secretParameters.has(parameter) || isSecretOption(parameter);
}

/** Keeps the ids of the tasks within the size of a record, and their records within the time of a request. */
export const maxTasksInJob = 500;
export const taskName = /^[A-Za-z0-9_-]{1,100}$/;

/** Returns the schema of a job request. Each task is checked separately against the schema of its operation. */
export const JobRequest = () =>
  z.object({
    tag: z
      .string('Expected a string.')
      .max(1024, 'Expected at most 1024 characters.')
      .optional()
      .describe('Arbitrary label.'),
    // Tasks are checked separately, so that the error names every invalid field.
    tasks: z
      .record(z.string(), z.unknown(), 'Expected an object of task names to tasks.')
      .describe('Task names to task definitions.')
      .meta({ minProperties: 1, maxProperties: maxTasksInJob, propertyNames: { pattern: taskName.source } }),
    webhook_url: Url.optional().describe(
      'Called when the job is created, completes or fails. The response contains the signing secret.',
    ),
  });
