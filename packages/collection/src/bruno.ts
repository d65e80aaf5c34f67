import type { ApiRequest, Field } from './requests.ts';

/** Returns the files of a Bruno collection by their paths. */
export function brunoCollection(requests: ApiRequest[]): Record<string, string> {
  const folders = [...new Set(requests.map(({ folder }) => folder))];
  return {
    'bruno.json': json({ version: '1', name: 'Lathe', type: 'collection', ignore: ['node_modules', '.git'] }),
    'collection.bru': [block('auth', ['mode: bearer']), block('auth:bearer', ['token: {{key}}'])].join('\n'),
    'environments/Local.bru': `${block('vars', ['url: http://localhost:3000'])}\nvars:secret [\n  key\n]\n`,
    ...Object.fromEntries(
      folders.map((name, index) => [`${name}/folder.bru`, block('meta', [`name: ${name}`, `seq: ${index + 1}`])]),
    ),
    ...Object.fromEntries(
      requests.map((request, index) => [`${request.folder}/${request.id}.bru`, requestFile(request, index + 1)]),
    ),
  };
}

/** Writes a request in the Bru language. */
function requestFile(request: ApiRequest, sequence: number): string {
  const { name, method, path, hasKey, pathFields, queryFields, headers, body, saved, isSafe } = request;
  const query = queryFields.flatMap((field) => (field.isSent ? [`${field.name}=${field.value}`] : []));
  const url = `{{url}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const blocks = [
    block('meta', [`name: ${name}`, 'type: http', `seq: ${sequence}`, ...(isSafe ? ['tags: [', '  safe', ']'] : [])]),
    block(method.toLowerCase(), [`url: ${url}`, `body: ${bodyType(body)}`, `auth: ${hasKey ? 'inherit' : 'none'}`]),
    ...fieldBlock('params:path', pathFields),
    ...fieldBlock('params:query', queryFields),
    ...fieldBlock('headers', headers),
    ...bodyBlock(body),
    ...dictionaryBlock('vars:post-response', mapValues(saved, expressionOf)),
    block('assert', ['res.status: lt 300']),
    ...docsBlock([...pathFields, ...queryFields, ...headers]),
  ];
  return blocks.join('\n');
}

function bodyType(body: ApiRequest['body']): string {
  if (!body) return 'none';
  return body.type === 'json' ? 'json' : 'multipartForm';
}

function bodyBlock(body: ApiRequest['body']): string[] {
  if (!body) return [];
  if (body.type === 'json') return [block('body:json', json(body.content).trimEnd().split('\n'))];
  const fields = body.fields.map(({ name, value }) => `${name}: ${value}`);
  return [block('body:multipart-form', [`file: @file(${body.file})`, ...fields])];
}

function fieldBlock(name: string, fields: Field[]): string[] {
  const lines = fields.map((field) => `${field.isSent ? '' : '~'}${field.name}: ${field.value}`);
  return lines.length > 0 ? [block(name, lines)] : [];
}

function dictionaryBlock(name: string, entries: Record<string, string>): string[] {
  const lines = Object.entries(entries).map(([key, value]) => `${key}: ${value}`);
  return lines.length > 0 ? [block(name, lines)] : [];
}

function docsBlock(fields: Field[]): string[] {
  const lines = fields.flatMap(({ name, description }) => (description ? [`- \`${name}\`: ${description}`] : []));
  return lines.length > 0 ? [block('docs', lines)] : [];
}

/** Returns the expression of a field of the response, such as `res.body.tasks[0].id` of `tasks.0.id`. */
function expressionOf(path: string): string {
  return `res.body.${path.replaceAll(/\.(\d+)/g, '[$1]')}`;
}

function mapValues(object: Record<string, string>, change: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

function block(name: string, lines: string[]): string {
  return `${name} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
