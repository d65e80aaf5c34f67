import * as z from 'zod';
import { isId } from '../ids.ts';

/** An ObjectID. */
export const Id = z
  .string()
  .refine(isId, 'Expected an id of 24 hexadecimal digits.')
  .meta({ pattern: '^[0-9a-f]{24}$', examples: ['6af9126cc0830000f25c62d1'] });

const text = (max: number) => z.string('Expected a string.').min(1, 'Expected a string that is not empty.').max(max);
const Input = text(100);
/** One input, or several; published clients send either where the spec says an array. */
const Inputs = z
  .union([Input, z.array(Input).min(1).max(1000)], 'Expected the id or name of a task, or an array of them.')
  .transform((input) => (Array.isArray(input) ? input : [input]))
  .describe('Task to take files from: a name within the same job, or the id of an earlier task; several as an array.');
const Filename = text(1024).describe('Overrides the name of the file.');
const Format = text(20)
  .transform((format) => format.toLowerCase().replace(/^\./, ''))
  .describe('File extension without a dot.');
const Options = z
  .record(
    z.string().max(100),
    z.union([z.string().max(10_000), z.number(), z.boolean()], 'Expected a string, a number or a boolean.'),
    'Expected an object of option names to values.',
  )
  .default({})
  .describe('Advanced options, as listed by the options query.');

const webUrl = (value: string) => {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
};
const bareUrl = (value: string) => {
  const url = URL.parse(value);
  return url === null || (url.username === '' && url.password === '');
};
export const Url = text(8192)
  .refine(webUrl, 'Expected an http or https URL.')
  // A record shows its URL, and what stands before an @ passes for a host.
  .refine(bareUrl, 'Expected a URL without a user name or password; import/url takes credentials as headers.');

const largestBase64Characters = 1_500_000;

const objstoreA = {
  bucket: text(255),
  region: text(100).regex(/^[a-z0-9-]+$/i, 'Expected a region such as us-east-1.'),
  access_key_id: text(256)
    .optional()
    .describe('Left out together with secret_access_key where the deployment itself may reach the bucket.'),
  secret_access_key: text(1024).optional(),
  session_token: text(8192).optional(),
  endpoint: Url.optional().describe('Custom API endpoint; the default is built from the region.'),
};
const objstoreB = {
  project_id: text(255),
  bucket: text(255),
  client_email: text(320),
  private_key: text(16_384),
};
const blobstore = {
  container: text(255),
  storage_account: text(255).regex(/^[a-z0-9]{3,24}$/, 'Expected 3 to 24 lower-case letters and digits.'),
  storage_access_key: text(1024).optional().describe('Needed only when sas_token is not given.'),
  sas_token: text(4096).optional(),
};
const sftp = {
  host: z.union([text(255), z.number()], 'Expected a host name or an IP address.').transform(String),
  port: z.coerce.number('Expected a port number.').int().min(1).max(65_535).default(22),
  username: text(255),
  password: text(1024).optional().describe('Not needed when private_key is given.'),
  private_key: text(16_384).optional(),
  host_key_fingerprint: text(200).optional().describe('SHA256 fingerprint that the server must show.'),
};

type Rule = [(fields: Record<string, unknown>) => boolean, { path: string[]; message: string }];

const together = (first: string, second: string): Rule => [
  (fields) => (fields[first] === undefined) === (fields[second] === undefined),
  { path: [second], message: `Expected ${first} and ${second} together, or neither.` },
];
const either = (first: string, second: string): Rule => [
  (fields) => fields[first] !== undefined || fields[second] !== undefined,
  { path: [first], message: `Expected ${first} or ${second}.` },
];
const notBoth = (first: string, second: string): Rule => [
  (fields) => fields[first] === undefined || fields[second] === undefined,
  { path: [second], message: `Expected ${first} or ${second}, not both.` },
];
const keysTogether = together('access_key_id', 'secret_access_key');
const keyOrToken = either('storage_access_key', 'sas_token');
const passwordOrKey = either('password', 'private_key');

const Process = { input: Inputs, input_format: Format.optional(), options: Options, filename: Filename.optional() };
const headerValue = (max: number) => text(max).regex(/^[\x20-\x7e]*$/, 'Expected printable ASCII characters.');
const ContentHeaders = {
  content_type: headerValue(255).optional().describe('Media type of the stored files; by default what they are.'),
  content_disposition: headerValue(1024).optional().describe('How a browser is told to treat the stored files.'),
};

/** Headers that the transfer itself sets, or that are about the connection and not the file. */
const ownHeaders =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|range|if-range|accept-encoding|proxy-.*)$/i;

/** Parameters of each operation, without `operation` itself: what its own endpoint takes and a job's task may hold. */
export const operationSchemas = {
  'import/upload': z.object({}),
  'import/url': z.object({
    url: Url.describe('URL of the remote file.'),
    filename: Filename.optional(),
    headers: z
      .record(
        text(256).regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'Expected header names.'),
        z
          .string()
          .max(8192)
          .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'Expected characters of a header: no line breaks, and Latin-1 at most.'),
      )
      .refine((headers) => Object.keys(headers).length <= 50, 'Expected at most 50 headers.')
      .refine((headers) => !Object.keys(headers).some((name) => ownHeaders.test(name)), {
        message: 'Expected no header that the transfer sets itself, such as Host, Range and Accept-Encoding.',
      })
      .optional()
      .describe(
        'Headers to send, for servers that ask for credentials. They do not follow a redirect to another origin.',
      ),
  }),
  'import/base64': z.object({
    file: text(largestBase64Characters).describe('Content in data-URI form: data:<media_type>;base64,<data>.'),
    filename: Filename.describe('File name including extension.'),
  }),
  'import/webpage': z.object({ url: Url.describe('URL of the web page.'), filename: Filename.optional() }),
  'import/objstore_a': z
    .object({
      ...objstoreA,
      key: text(1024).optional(),
      key_prefix: text(1024).optional().describe('Alternative to key, imports several files; inside jobs only.'),
      filename: Filename.optional(),
    })
    .refine(...keysTogether)
    .refine(...either('key', 'key_prefix'))
    .refine(...notBoth('key', 'key_prefix')),
  'import/objstore_b': z.object({
    ...objstoreB,
    file: text(1024).describe('Object name in the bucket, including path.'),
    filename: Filename.optional(),
  }),
  'import/blobstore': z
    .object({ ...blobstore, blob: text(1024).describe('Blob name including path.'), filename: Filename.optional() })
    .refine(...keyOrToken),
  'import/sftp': z
    .object({
      ...sftp,
      file_string: text(4096).describe('File name on the server, including path.'),
      filename: Filename.optional(),
    })
    .refine(...passwordOrKey),
  convert: z.object({ ...Process, output_format: Format }),
  compress: z.object({ ...Process, output_format: Format.optional() }),
  merge: z.object({
    input: Inputs,
    output_format: z.enum(['pdf', 'gif'], 'Expected pdf or gif.'),
    filename: Filename.optional(),
    options: Options,
  }),
  crop: z.object({ ...Process, output_format: Format.optional() }),
  trim: z.object({ ...Process, output_format: Format.optional() }),
  'export/url': z.object({
    input: Inputs,
    filename: Filename.optional(),
    archive_multiple_files: z
      .boolean('Expected true or false.')
      .default(false)
      .describe('One ZIP for all files instead of a link for each.'),
  }),
  'export/objstore_a': z
    .object({
      input: Inputs,
      ...objstoreA,
      ...ContentHeaders,
      key: text(1024).optional(),
      key_prefix: text(1024).optional(),
    })
    .refine(...keysTogether)
    .refine(...either('key', 'key_prefix'))
    .refine(...notBoth('key', 'key_prefix')),
  'export/objstore_b': z
    .object({
      input: Inputs,
      ...objstoreB,
      ...ContentHeaders,
      file: text(1024).optional(),
      file_prefix: text(1024).optional(),
    })
    .refine(...either('file', 'file_prefix'))
    .refine(...notBoth('file', 'file_prefix')),
  'export/blobstore': z
    .object({
      input: Inputs,
      ...blobstore,
      ...ContentHeaders,
      blob: text(1024).optional(),
      blob_prefix: text(1024).optional(),
    })
    .refine(...keyOrToken)
    .refine(...either('blob', 'blob_prefix'))
    .refine(...notBoth('blob', 'blob_prefix')),
  'export/sftp': z
    .object({ input: Inputs, ...sftp, file_string: text(4096).optional(), path_prefix: text(4096).optional() })
    .refine(...passwordOrKey)
    .refine(...either('file_string', 'path_prefix'))
    .refine(...notBoth('file_string', 'path_prefix')),
} as const;

export type OperationName = keyof typeof operationSchemas;
export const operationNames = Object.keys(operationSchemas) as OperationName[];

/** Tells whether a string names an operation. */
export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operationSchemas, name);
}

/** Parameters that are never shown, logged or kept in a record. */
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

/** Tells whether a parameter of an operation, or an option within `options`, is a secret. */
export function isSecret(parameter: string): boolean {
  return secretParameters.has(parameter) || /password/i.test(parameter);
}

/** A job as a client asks for it; each task is checked against the schema of its operation. */
export const JobRequest = z.object({
  tag: z.string('Expected a string.').max(1024).optional().describe('Arbitrary, no effect.'),
  tasks: z
    .record(z.string(), z.unknown(), 'Expected an object of task names to tasks.')
    .describe('Task names to task definitions.'),
  webhook_url: Url.optional().describe(
    'Called when the job is created, completes or fails; the answer holds the secret of its signatures.',
  ),
});
