import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import busboy from 'busboy';
import type { Credentials } from '../iam/credentials.ts';
import type { SignatureVerifier } from '../iam/signature.ts';
import { encodeKey } from '../wire/encode.ts';
import { pipeRequest } from '../wire/pipe-request.ts';
import { assertKey } from './actions.ts';
import { notImplemented, S3Error } from './error.ts';
import { metadataOf } from './metadata.ts';
import { assertPolicy, type LengthRange, parsePostPolicy } from './post-policy.ts';
import { maxPutBytes } from './put-object.ts';
import { type FormStore, respondEmpty, respondXml } from './request.ts';
import type { Blob, StoredObject } from './store.ts';

/** S3 accepts at most 20 KB of fields before the file. */
const maxFieldsBytes = 20 * 1024;
const signatureFields = ['policy', 'x-amz-algorithm', 'x-amz-credential', 'x-amz-date', 'x-amz-signature'];
const unsupportedFields = /^(acl|tagging|x-amz-(?!meta-|(algorithm|credential|date|security-token|signature)$).*)$/;

export interface PostContext {
  bucket: string;
  store: FormStore;
  verifier: SignatureVerifier;
  /** Throws unless the role may put the object. */
  authorise(credentials: Credentials, key: string): void;
  created(object: StoredObject): Promise<void> | void;
  /** The client's URL of the bucket. */
  bucketUrl: string;
}

interface Form {
  /** Names in lower case, with `${filename}` replaced. */
  fields: Map<string, string>;
  file: Readable;
  /** Settles when the whole form has been read. */
  whole: Promise<void>;
}

/** Stores the file of a presigned POST, as sent by a browser form. */
export async function postObject(req: IncomingMessage, res: ServerResponse, context: PostContext): Promise<void> {
  if (!/^multipart\/form-data\b/i.test(req.headers['content-type'] ?? '')) {
    throw new S3Error('PreconditionFailed', 'Bucket POST must be of the enclosure-type multipart/form-data');
  }
  const form = await readForm(req);
  try {
    const { key, range } = admit(form.fields, context);
    const object = await store(form, key, range, context);
    await context.created(object);
    respond(res, form.fields, object, context.bucketUrl);
  } catch (error) {
    // Reads and drops the rest: browsers show no response before they have sent everything.
    form.file.on('error', () => undefined);
    form.file.resume();
    form.whole.catch(() => undefined);
    throw error;
  }
}

/** Reads the form up to its file. */
function readForm(req: IncomingMessage): Promise<Form> {
  const { promise, resolve, reject } = Promise.withResolvers<Form>();
  let parser: busboy.Busboy;
  try {
    parser = busboy({
      headers: req.headers,
      defParamCharset: 'utf8',
      preservePath: true,
      limits: { fieldSize: maxFieldFileBytes, fields: maxFields, files: maxFields, fieldNameSize: 200 },
    });
  } catch {
    throw malformed();
  }
  const fields = new Map<string, string>();
  const pending: Promise<void>[] = [];
  let fieldBytes = 0;
  let failure: Error | undefined;
  let begun = false;
  const whole = Promise.withResolvers<void>();
  whole.promise.catch(() => undefined);

  const begin = (file: Readable, filename: string) => {
    begun = true;
    const name = filename.replace(/^.*[\\/]/s, '');
    for (const [field, value] of fields)
      fields.set(
        field,
        value.replaceAll(/\$\{filename\}/g, () => name),
      );
    resolve({ fields, file, whole: whole.promise });
  };
  parser.on('field', (rawName, value, info) => {
    const name = rawName.toLowerCase();
    // S3 ignores fields after the file.
    if (begun) return;
    if (name === 'file' && !info.valueTruncated) {
      // A file part without a file name arrives as a field.
      begin(Readable.from([Buffer.from(value)]), '');
      return;
    }
    fieldBytes += rawName.length + Buffer.byteLength(value);
    if (info.valueTruncated || fieldBytes > maxFieldsBytes) failure ??= tooLongFields();
    fields.set(name, value);
  });
  /** Some libraries send file names with all fields. S3 identifies the file by its field name. */
  const readField = async (name: string, content: Readable) => {
    const chunks: Buffer[] = [];
    fieldBytes += name.length;
    for await (const chunk of content) {
      fieldBytes += chunk.length;
      if (fieldBytes <= maxFieldsBytes) chunks.push(chunk);
    }
    if (fieldBytes > maxFieldsBytes) failure ??= tooLongFields();
    fields.set(name, Buffer.concat(chunks).toString());
  };
  parser.on('file', (rawName, file, info) => {
    file.on('error', () => undefined);
    const name = rawName.toLowerCase();
    if (begun && name === 'file') failure ??= oneFile();
    if (begun) {
      file.resume();
    } else if (name !== 'file') {
      pending.push(readField(name, file).catch(() => undefined));
    } else {
      begun = true;
      void Promise.all(pending).then(() => {
        if (!failure) return begin(file, info.filename ?? '');
        file.resume();
        reject(failure);
      });
    }
  });
  parser.on('filesLimit', () => {
    failure ??= oneFile();
  });
  pipeRequest(req, parser);
  finished(parser, (error) => {
    const problem = failure ?? (error ? malformed() : undefined);
    reject(problem ?? oneFile());
    if (problem) whole.reject(problem);
    else whole.resolve();
  });
  return promise;
}

const maxFieldFileBytes = 1024 * 1024;
const maxFields = 200;

function tooLongFields(): Error {
  return new S3Error(
    'MaxPostPreDataLengthExceededError',
    'Your POST request fields preceding the upload file were too large.',
  );
}

/** Verifies the signature of the form, and that its fields match the policy. */
function admit(fields: Map<string, string>, context: PostContext): { key: string; range: LengthRange | undefined } {
  const key = fields.get('key');
  if (key === undefined) throw new S3Error('InvalidArgument', "Bucket POST must contain a field named 'key'.");
  if (key === '') throw new S3Error('InvalidArgument', 'User key must have a length greater than 0.');
  assertKey(key);
  const policyText = fields.get('policy');
  const signature = fields.get('x-amz-signature');
  const credential = fields.get('x-amz-credential');
  const missing = signatureFields.filter((name) => !fields.get(name));
  if (missing.length === signatureFields.length) throw new S3Error('AccessDenied', 'Access Denied');
  if (!policyText || !signature || !credential || missing.length > 0)
    throw new S3Error(
      'InvalidArgument',
      `Bucket POST must contain a field named '${missing[0]}'. If it is specified, please check the order of the fields.`,
    );
  if (fields.get('x-amz-algorithm') !== 'AWS4-HMAC-SHA256')
    throw new S3Error('InvalidArgument', 'Only AWS4-HMAC-SHA256 is supported');
  const credentials = context.verifier.verifyText(
    credential,
    policyText,
    signature,
    fields.get('x-amz-security-token'),
  );
  const policy = parsePostPolicy(policyText);
  assertPolicy(policy, fields, context.bucket, Date.now());
  const unknown = [...fields.keys()].find((name) => unsupportedFields.test(name));
  if (unknown !== undefined) throw notImplemented(unknown);
  context.authorise(credentials, key);
  return { key, range: policy.lengthRange };
}

async function store(
  form: Form,
  key: string,
  range: LengthRange | undefined,
  context: PostContext,
): Promise<StoredObject> {
  let blob: Blob | undefined;
  try {
    blob = await context.store.write(
      // A policy may allow more than S3 takes.
      Readable.from(
        limitLength(form.file, { min: range?.min ?? 0, max: Math.min(range?.max ?? maxPutBytes, maxPutBytes) }),
        {
          objectMode: false,
        },
      ),
    );
    await form.whole;
    return await context.store.commit(context.bucket, key, blob, {
      metadata: metadataOf(form.fields, (value, isUser) => (isUser ? encodeMetadata(value) : headerText(value))),
    });
  } catch (error) {
    if (blob) context.store.discard(blob);
    throw error;
  }
}

/** Encodes user metadata as S3 does for non-ASCII text. */
function encodeMetadata(value: string): string {
  if (/^[\x20-\x7e]*$/.test(value)) return value;
  return `=?UTF-8?B?${Buffer.from(value).toString('base64')}?=`;
}

/** Makes a value valid for response headers. */
function headerText(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, (character) => encodeURIComponent(character));
}

/** Passes bytes up to the policy's maximum, and fails if there are more, or at the end if there were too few. */
async function* limitLength(file: Readable, { min, max }: LengthRange): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of file) {
    size += chunk.length;
    if (size > max)
      throw new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size', {
        ProposedSize: size,
        MaxSizeAllowed: max,
      });
    yield chunk;
  }
  if (size < min)
    throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size', {
      ProposedSize: size,
      MinSizeAllowed: min,
    });
}

function respond(res: ServerResponse, fields: Map<string, string>, object: StoredObject, bucketUrl: string): void {
  const etag = `"${object.etag}"`;
  const location = `${bucketUrl}/${encodeKey(object.key)}`;
  res.setHeader('etag', etag);
  const redirect = redirectTarget(fields.get('success_action_redirect') ?? fields.get('redirect'));
  if (redirect) {
    redirect.searchParams.append('bucket', object.bucket);
    redirect.searchParams.append('key', object.key);
    redirect.searchParams.append('etag', etag);
    res.statusCode = 303;
    res.setHeader('location', redirect.href);
    res.setHeader('content-length', 0);
    res.end();
    return;
  }
  res.setHeader('location', location);
  const status = fields.get('success_action_status');
  if (status === '201') {
    const content = { Location: location, Bucket: object.bucket, Key: object.key, ETag: etag };
    respondXml(res, 'PostResponse', content, 201);
  } else respondEmpty(res, status === '200' ? 200 : 204);
}

function redirectTarget(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}

function oneFile(): Error {
  return new S3Error('InvalidArgument', 'POST requires exactly one file upload per request.');
}

function malformed(): Error {
  return new S3Error('MalformedPOSTRequest', 'The body of your POST request is not well-formed multipart/form-data.');
}
