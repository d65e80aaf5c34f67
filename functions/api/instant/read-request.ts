import { MaxPartsExceededError, type MultipartPart, parseMultipart } from '@remix-run/multipart-parser';
import { adviceOnLargeFiles, maxInstantBytes } from '../../../shared/files/limits.ts';
import { safeName } from '../../../shared/files/names.ts';
import {
  type FileRole,
  fileRoles,
  type ProcessingOperation,
  processingOf,
  rolesOf,
} from '../../../shared/operations/operations.ts';
import type { TaskRequest } from '../creation/plan.ts';
import { readTaskRequest } from '../creation/read-requests.ts';
import { instantSchemas, maxTasksInJob } from '../creation/schemas.ts';
import { badRequest, HttpError, invalidFields } from '../http/errors.ts';
import type { RawBody } from '../http/route.ts';

/** Each is an import of the job that the request may become. */
const maxFiles = maxTasksInJob - 3;
/** Files and parameters of a form. */
const maxParts = 1_000;

const exportName = 'export';

/** An instant request as the tasks of a job: imports, the operation, and an export. */
export interface InstantRequest {
  requests: TaskRequest[];
  /** The files of the request, by the names of their imports. */
  contents: Map<string, Uint8Array>;
}

interface GivenFile {
  /** The form field that it was sent in. */
  field?: string;
  name: string;
  content: Uint8Array;
}

/**
 * Reads a request: a form with files, a file as the body with parameters in the query, or JSON that names the input. Throws
 * the 400 or the 413.
 */
export async function readInstantRequest(
  operation: ProcessingOperation,
  { content, type, query }: RawBody,
): Promise<InstantRequest> {
  const { files, fields } = await partsOf(content, type, query);
  const task = readTaskRequest(operation, fields, instantSchemas[operation]);
  const { url, html, ...parameters } = task.parameters;
  if (typeof html === 'string') files.push({ name: 'page.html', content: Buffer.from(html) });
  checkFiles(files);
  const imports = [...files.map(importOf), ...(typeof url === 'string' ? [importOfUrl(url)] : [])];
  const { roles, inputs } = inputsOf(operation, task, imports, files);
  const worked = inputs.slice(0, inputs.length - roles.length);
  if (worked.length === 0 && 'file' in fields) throw invalidFields({ file: [fileAsText] });
  checkInputs(operation, worked, task.inputs.length > 0 || typeof url === 'string');
  checkRoles(operation, roles);
  return {
    requests: [
      ...imports,
      { ...task, inputs, parameters, ...(roles.length > 0 ? { roles } : {}) },
      { ...bare(exportName, 'export/url'), inputs: [operation], parameters: { archive_multiple_files: false } },
    ],
    contents: new Map(files.map((file, index) => [nameOf(index), file.content])),
  };
}

/** Returns the imports and earlier tasks that a task uses: first those that it works on, then those with a role. */
function inputsOf(
  operation: ProcessingOperation,
  task: TaskRequest,
  imports: TaskRequest[],
  files: GivenFile[],
): Required<Pick<TaskRequest, 'inputs' | 'roles'>> {
  const known = rolesOf(operation);
  const sent = imports.map(({ name }, index) => ({ name, role: known.find((role) => role === files[index]?.field) }));
  const { roles: givenRoles = [] } = task;
  const first = task.inputs.length - givenRoles.length;
  const earlier = task.inputs.map((name, index) => ({ name, role: givenRoles[index - first] }));
  const all = [...sent, ...earlier];
  const withRole = all.filter(({ role }) => role !== undefined);
  return {
    inputs: [...all.filter(({ role }) => role === undefined), ...withRole].map(({ name }) => name),
    roles: withRole.flatMap(({ role }) => role ?? []),
  };
}

async function partsOf(
  content: Buffer,
  type: string,
  query: string,
): Promise<{ files: GivenFile[]; fields: Record<string, unknown> }> {
  const inQuery = [...new URLSearchParams(query)];
  if (/^multipart\/form-data\s*(?:;|$)/i.test(type)) {
    const { files = [], texts = [] } = Object.groupBy(formOf(content, type), (part) =>
      part.isFile ? 'files' : 'texts',
    );
    return {
      files: files.map(({ name = '', filename = '', bytes }) => ({
        field: unescaped(name),
        name: safeName(unescaped(filename)),
        content: bytes,
      })),
      fields: fieldsOf([...inQuery, ...texts.map(({ name = '', text }) => [unescaped(name), text] as const)]),
    };
  }
  const parameters = fieldsOf(inQuery);
  if (content.length === 0) return { files: [], fields: parameters };
  if (/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type))
    return { files: [], fields: { ...parameters, ...objectOf(content.toString()) } };
  const { filename } = parameters;
  const name = typeof filename === 'string' ? filename : `file.${await extensionOf(type)}`;
  return { files: [{ name: safeName(name), content }], fields: parameters };
}

async function extensionOf(type: string): Promise<string> {
  // Few requests need it, and its table would be a part of every start.
  const { default: mime } = await import('mime');
  return mime.getExtension(type) ?? '';
}

/** Returns the parts of a form. Their contents are not copied, unlike those of `Response.formData`. */
function formOf(content: Buffer, type: string): MultipartPart[] {
  const [, quoted, bare = ''] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? [];
  const max = content.length;
  try {
    return [...parseMultipart(content, { boundary: quoted ?? bare, maxParts, maxFileSize: max, maxTotalSize: max })];
  } catch (error) {
    if (error instanceof MaxPartsExceededError)
      throw tooLarge(`The form has more than ${maxParts} parts. Send fewer files in a request.`);
    throw badRequest('The body is not valid multipart/form-data.', undefined, error);
  }
}

/** Returns a name with the characters that browsers escape. */
function unescaped(name: string): string {
  return name.replace(/%(?:22|0A|0D)/gi, decodeURIComponent);
}

/** Returns the fields of a form or query. `options[quality]` is a member of `options`, and `options` alone is JSON. */
function fieldsOf(entries: Iterable<readonly [string, string]>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const options: [string, unknown][] = [];
  const inputs: string[] = [];
  for (const [name, value] of entries) {
    const option = /^options\[([^\]]+)\]$/.exec(name)?.[1];
    if (option !== undefined) options.push([option, value]);
    else if (name === 'options') options.push(...Object.entries(objectOf(value, name)));
    else if (name === 'input' || name === 'input[]') inputs.push(value);
    else fields[name] = value;
  }
  return {
    ...fields,
    ...(options.length > 0 ? { options: Object.fromEntries(options) } : {}),
    ...(inputs.length > 0 ? { input: inputs } : {}),
  };
}

function objectOf(json: string, field?: string): object {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const message = `Expected valid JSON: ${error instanceof Error ? error.message : error}.`;
    throw field === undefined ? badRequest(message, undefined, error) : invalidFields({ [field]: [message] });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw field === undefined
    ? badRequest('Expected a JSON object.')
    : invalidFields({ [field]: ['Expected an object.'] });
}

/** Throws the 413 for files that are too large, or too many for a job. */
function checkFiles(files: GivenFile[]): void {
  const bytes = files.reduce((sum, file) => sum + file.content.byteLength, 0);
  if (bytes > maxInstantBytes)
    throw tooLarge(
      `The files have ${bytes} bytes; an instant request takes at most ${maxInstantBytes}. ${adviceOnLargeFiles}`,
    );
  if (files.length > maxFiles)
    throw tooLarge(`The request has ${files.length} files; an instant request takes at most ${maxFiles}.`);
}

const fileAsText =
  'Expected a file but received text: a file in a form has a file name (curl -F file=@picture.png), and base64 is only accepted by import/base64.';

function checkInputs(operation: ProcessingOperation, inputs: string[], mayBeSeveral: boolean): void {
  if (inputs.length === 0)
    throw invalidFields({
      file: ['Expected a file: in a form field named file, as the body, or by url, html or input in a JSON body.'],
    });
  if (operation === 'merge' && inputs.length < 2 && !mayBeSeveral)
    throw invalidFields({ file: ['Expected two or more files to merge.'] });
}

function checkRoles(operation: ProcessingOperation, given: FileRole[]): void {
  const { roles = {} } = processingOf(operation);
  const missing = rolesOf(operation).filter((role) => roles[role] === 'required' && !given.includes(role));
  if (missing.length > 0)
    throw invalidFields(
      Object.fromEntries(missing.map((role) => [role, [`The field is missing. ${fileRoles[role]}`]])),
    );
}

function importOf({ name }: GivenFile, index: number): TaskRequest {
  return { ...bare(nameOf(index), 'import/base64'), parameters: { filename: name, file: '' } };
}

function importOfUrl(url: string): TaskRequest {
  return { ...bare('url', 'import/url'), parameters: { url } };
}

function bare(name: string, operation: TaskRequest['operation']): TaskRequest {
  return { name, operation, inputs: [], parameters: {}, secrets: {}, unknownFields: [], path: '' };
}

function nameOf(index: number): string {
  return `file-${index + 1}`;
}

function tooLarge(msg: string): HttpError {
  return new HttpError(413, 'payload_too_large', msg);
}
