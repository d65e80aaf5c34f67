import type { ApiDocument, ApiOperation } from './document.ts';
import { bodies, Examples, sampleName } from './examples.ts';

export interface Field {
  name: string;
  value: string;
  description: string | undefined;
  /** Optional parameters are listed but not sent. */
  isSent: boolean;
}

export type Body =
  | { type: 'json'; content: unknown }
  | { type: 'form'; file: string; fields: Array<{ name: string; value: string }> };

/** A request of a collection, for any program. */
export interface ApiRequest {
  id: string;
  name: string;
  folder: string;
  method: string;
  /** With parameters in braces. */
  path: string;
  hasKey: boolean;
  pathFields: Field[];
  queryFields: Field[];
  headers: Field[];
  body: Body | undefined;
  /** Variables that later requests use, and the fields of the response that they are set to. */
  saved: Record<string, string>;
  /** Whether it can be sent in a run of the collection: it deletes and registers nothing. */
  isSafe: boolean;
}

/** Folders whose requests set variables that others use come first. */
const firstFolders = ['Formats and options', 'Jobs', 'Tasks'];

const savedVariables: Record<string, Record<string, string>> = {
  'create-job': { jobId: 'id', taskId: 'tasks.0.id' },
  'webhook-create': { webhookId: 'id' },
  'key-create': { keyId: 'id' },
  'image-key-create': { imageKeyId: 'id' },
};

/** Requests that create something and are safe, because what they create expires. */
const safeCreations = ['create-job', 'instant-convert', 'account-token'];
/** Parameters that a run of the collection knows. */
const knownParameters = ['jobId', 'taskId', 'operation'];

/** Returns the requests of a document, in the order in which they can be run. */
export function requestsOf(document: ApiDocument): ApiRequest[] {
  const examples = new Examples(document);
  const requests = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => requestOf(method, path, operation, examples)),
  );
  const folders = [...new Set([...firstFolders, ...requests.map(({ folder }) => folder)])];
  const place = ({ folder, id, method }: ApiRequest) =>
    folders.indexOf(folder) * 10 + (id in savedVariables ? 0 : method === 'GET' ? 1 : method === 'DELETE' ? 3 : 2);
  return requests.toSorted((left, right) => place(left) - place(right));
}

/** Builds a request. Only the options query needs parameters that the document does not require: one of the formats. */
function requestOf(method: string, path: string, operation: ApiOperation, examples: Examples): ApiRequest {
  const { operationId: id, summary, tags, security, parameters } = operation;
  const fieldsIn = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required, description, schema }) => ({
        name,
        value: place === 'path' && name !== 'operation' ? `{{${name}}}` : String(examples.of(name, schema)),
        description,
        isSent: required || (place === 'query' && id === 'query-options'),
      }));
  const pathFields = fieldsIn('path');
  const hasKey = security.length > 0;
  const isKnown = pathFields.every(({ name }) => knownParameters.includes(name)) && !path.startsWith('/auth/');
  return {
    id,
    name: summary,
    folder: tags[0],
    method: method.toUpperCase(),
    path,
    hasKey,
    pathFields,
    queryFields: fieldsIn('query'),
    headers: fieldsIn('header'),
    body: bodyOf(operation, examples),
    saved: savedVariables[id] ?? (id.startsWith('import-') ? { taskId: 'id' } : {}),
    isSafe: (method === 'get' && isKnown) || safeCreations.includes(id),
  };
}

function bodyOf({ operationId, requestBody }: ApiOperation, examples: Examples): Body | undefined {
  if (!requestBody) return undefined;
  const form = requestBody.content['multipart/form-data'];
  if (form) {
    const { file: _file, ...others } = examples.requiredFields(form.schema);
    const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
    const fields = Object.entries(others).map(([name, value]) => ({ name, value: text(value) }));
    return { type: 'form', file: sampleName, fields };
  }
  const schema = requestBody.content['application/json']?.schema ?? {};
  return { type: 'json', content: bodies[operationId] ?? examples.requiredFields(schema) };
}
