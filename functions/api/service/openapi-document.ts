import * as z from 'zod';
import { isProcessing, type OperationName, operationNames } from '../../../shared/operations/operations.ts';
import { type Refusal, refusals } from '../../../shared/operations/problems.ts';
import { required } from '../../../shared/settings.ts';
import { isSecret, operationSchemas } from '../creation/schemas.ts';
import { responseSchemas } from '../http/response-schemas.ts';
import type { Route } from '../http/route.ts';
import { routes } from '../routes.ts';
import { catalogueSchemas, withCatalogue } from './openapi-catalogue.ts';

type Json = Record<string, unknown>;

const errorMeanings: Record<string, string> = {
  400: 'Bad request: a parameter is invalid.',
  401: 'Unauthorized: key missing or invalid.',
  403: 'Forbidden: the key or role lacks a scope, a limit of the key does not allow it, or a signature is invalid.',
  404: 'Not found: the specified content does not exist.',
  406: 'Not acceptable: a format other than JSON was requested.',
  409: 'Conflict with the current state of the resource.',
  413: 'The body is too large, or the URL is longer than 8,192 bytes. API Gateway rejects bodies of more than 6 MB with a GatewayError, and CloudFront rejects long URLs with an HTML page.',
  422: 'The files cannot be converted; msg says why.',
  429: 'Too many requests.',
  431: 'The request line and headers are larger than 10,240 bytes; API Gateway rejects the request.',
  500: 'Internal server error; retry later.',
  504: 'The conversion takes longer than a request may; create a job instead.',
  503: 'No response within 30 seconds or, during a sign-in, no response from the issuer. Retry later.',
};

/** Statuses of errors that API Gateway itself returns. */
const gatewayStatuses = ['413', '429', '431', '500', '503'];

const integer = (minimum: number) => ({ type: 'integer', minimum });

/** Headers of responses, by their names. */
const responseHeaders = {
  'RateLimit-Limit': {
    description:
      'Requests per minute, by the limit with the fewest remaining requests: of the account, of the API key, or of creating jobs and tasks.',
    schema: integer(0),
  },
  'RateLimit-Remaining': { description: 'Remaining requests in this minute.', schema: integer(0) },
  'RateLimit-Reset': { description: 'Seconds until the limit resets.', schema: integer(0) },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: integer(1) },
};

/** Builds the OpenAPI 3.1 document from the route table. It is built when functions are bundled; see infra/ready-openapi.ts. */
export function openapiDocument(url = required('LATHE_URL')): Json {
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    // OpenAPI has no parameter that takes the rest of a path.
    const path = route.path.replace('+}', '}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lathe',
      version: '1.0.5',
      description:
        'Converts, compresses and merges audio, video, image and document files. A task is one operation; a job is a set of tasks.',
    },
    servers: [{ url }],
    paths,
    components: {
      headers: responseHeaders,
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      schemas: {
        ...Object.fromEntries(
          Object.entries(responseSchemas).map(([name, schema]) => [name, schemaOf(schema, 'output')]),
        ),
        GatewayError: {
          type: 'object',
          description: 'Body of errors that API Gateway itself returns.',
          properties: { message: { type: 'string' } },
          required: ['message'],
        },
        ...catalogueSchemas(),
        ...taskDefinitions(),
      },
    },
  };
}

/** Returns the schemas of tasks in a job: the operation and its parameters. */
function taskDefinitions(): Record<string, Json> {
  const definitions = operationNames.map((operation) => {
    const { properties, required: needed, ...rest } = parametersOf(operation, operationSchemas[operation]);
    return [
      nameOf(operation),
      {
        ...rest,
        properties: { operation: { const: operation }, ...Object(properties) },
        required: ['operation', ...(Array.isArray(needed) ? needed : [])],
      },
    ];
  });
  const references = operationNames.map((operation) => schema(nameOf(operation)));
  return { TaskDefinition: { oneOf: references }, ...Object.fromEntries(definitions) };
}

function nameOf(operation: OperationName): string {
  return `${operation.replace(/(?:^|[/_])(\w)/g, (_match, letter: string) => letter.toUpperCase())}Task`;
}

function parametersOf(operation: OperationName, schema: z.ZodType): Json {
  const parameters = schemaOf(schema, 'input');
  return isProcessing(operation) ? withCatalogue(operation, parameters) : withSecrets(parameters);
}

/** Marks secret parameters as passwords, so that generated forms hide them. */
function withSecrets({ properties, ...schema }: Json): Json {
  const marked = Object.entries<Json>(Object(properties)).map(([name, property]) => [
    name,
    isSecret(name) && property.type === 'string' ? { ...property, format: 'password' } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(marked) };
}

function bodyOf(route: Route, body: z.ZodType): Json {
  if (route.operation) return parametersOf(route.operation, body);
  const { properties, ...rest } = schemaOf(body, 'input');
  const { tasks, ...others } = Object(properties);
  if (!tasks) return { ...rest, properties };
  const definitions = { ...tasks, additionalProperties: schema('TaskDefinition') };
  return { ...rest, properties: { ...others, tasks: definitions } };
}

/** Describes a request with its files in a form, or with JSON that names its input. */
function uploadOf(route: Route, parameters: z.ZodType): Json {
  const { properties, required: needed = [], ...rest } = bodyOf(route, parameters);
  const { url, html, input, ...others } = Object(properties);
  const file = { type: 'string', format: 'binary', description: 'A file. Repeat the field for several.' };
  return {
    'multipart/form-data': {
      schema: {
        ...rest,
        properties: { file, ...others },
        required: ['file', ...(Array.isArray(needed) ? needed : [])],
      },
    },
    ...json({
      ...rest,
      properties,
      required: needed,
      anyOf: Object.keys({ url, html, input }).map((name) => ({ required: [name] })),
    }),
  };
}

/** Text that a header can hold. */
const headerText = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~](?:[ -~]*[!-~])?$' };

const preference = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description: 'Such as `wait=25`: waits up to 25 seconds for the end, and returns the result (RFC 7240).',
  schema: headerText,
};

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeated request with the same key and body returns the same resource.',
  schema: headerText,
};

function operation(name: string, route: Route): Json {
  const isCreatedOnce = route.success === 201 && (route.response === 'Task' || route.response === 'Job');
  const errors = new Set([
    '400',
    ...(route.json === false ? [] : ['406']),
    ...gatewayStatuses,
    ...(route.access === 'key' ? ['401', '403'] : []),
    ...(route.params ? ['404'] : []),
    ...(isCreatedOnce ? ['409'] : []),
    ...(route.errors ?? []).map(String),
  ]);
  return {
    operationId: name,
    summary: route.summary,
    tags: [route.tag],
    ...(route.scope === undefined ? {} : { description: `Requires the scope \`${route.scope}\`.` }),
    // OpenAPI 3.1 allows role names here for schemes other than OAuth.
    security: route.scope === undefined ? [] : [{ key: [route.scope] }],
    parameters: [
      ...parameters(route.params?.(), 'path'),
      ...parameters(route.query?.(), 'query').map((parameter) =>
        // The formats query returns an empty list for an unknown extension, but the options query refuses it.
        route.response === 'OptionList' ? { ...parameter, schema: schema('Format') } : parameter,
      ),
      ...(isCreatedOnce ? [idempotencyKey] : []),
      ...(route.mayWait || route.upload ? [preference] : []),
    ],
    ...(route.upload && { requestBody: { required: true, content: uploadOf(route, route.upload()) } }),
    ...(route.body && {
      requestBody: { required: route.emptyBody !== true, content: json(bodyOf(route, route.body())) },
    }),
    responses: Object.fromEntries(
      [
        [String(route.success), success(route)] as const,
        ...(route.upload || route.engine ? [['303', redirect] as const] : []),
        ...(route.alternative ? [[String(route.alternative.status), alternative(route.alternative)] as const] : []),
        ...[...errors].sort().map((status) => [status, error(status, route)] as const),
      ].map(([status, response]) => [status, withHeaders(status, route, response)]),
    ),
  };
}

/** Adds the headers of responses that come from the service itself. */
function withHeaders(status: string, route: Route, { headers, ...response }: Json): Json {
  const names = [
    ...(hasLimits(status, route) ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] : []),
    ...(status === '429' || (route.bucket === 'wait' && status === '200') ? ['Retry-After'] : []),
  ];
  if (names.length === 0) return { ...response, ...(headers ? { headers } : {}) };
  const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return { ...response, headers: { ...Object(headers), ...Object.fromEntries(references) } };
}

/** Returns whether a response may have RateLimit headers. They require a valid key. */
function hasLimits(status: string, route: Route): boolean {
  return route.access === 'key' && !['401', '431', '503'].includes(status);
}

/** Returns a reference to a schema of the document. */
const schema = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const json = (content: Json): Json => ({ 'application/json': { schema: content } });

function error(status: string, route: Route): Json {
  const [own, gateway] = [schema('Error'), schema('GatewayError')];
  const description = errorMeanings[status];
  if (status === '400') return badRequest(route, own);
  if (!gatewayStatuses.includes(status)) return { description, content: json(own) };
  const hasOwn = status !== '431' && (status !== '503' || route.errors?.includes(503));
  const content = json(hasOwn ? { anyOf: [own, gateway] } : gateway);
  return { description, content: status === '413' ? { ...content, 'text/html': {} } : content };
}

/** Describes the reasons for refusing requests that match this document. */
function badRequest(route: Route, own: Json): Json {
  const reasons: Refusal[] = [
    ...(route.refusals ?? []),
    ...(route.body || route.query ? (['unknown_field'] as const) : []),
    ...(route.body ? (['forbidden_name'] as const) : []),
  ];
  const limits = reasons.length > 0 ? { properties: { reason: { enum: reasons } } } : { not: { required: ['reason'] } };
  return {
    description: [
      errorMeanings[400],
      ...(reasons.length > 0 ? ['A request that matches this document is only refused for one of these reasons:'] : []),
      ...reasons.map((reason) => `${reason}: ${refusals[reason]};`),
    ]
      .join(' ')
      .replace(/;$/, '.'),
    content: json({ allOf: [own, limits] }),
    'x-refusals': reasons,
  };
}

const redirect = {
  description: 'Redirects to the address in Location.',
  headers: { Location: { schema: { type: 'string' } } },
};

function success(route: Route): Json {
  if (route.success === 302) return redirect;
  if (route.path.endsWith('.json')) return { description: route.summary, content: { 'application/json': {} } };
  if (route.upload)
    return {
      description: 'The file; several as a ZIP.',
      headers: { 'Lathe-Conversion-Seconds': { description: 'Engine time.', schema: { type: 'number' } } },
      content: { '*/*': {} },
    };
  if (route.engine) return { description: 'The image.', content: { 'image/*': {} } };
  if (!route.response) return { description: 'Done.' };
  return { description: route.summary, content: json(schema(route.response)) };
}

function alternative({ response, description }: NonNullable<Route['alternative']>): Json {
  return response ? { description, content: json(schema(response)) } : { description };
}

function parameters(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return [];
  const { properties = {}, required: needed = [] } = schemaOf(schema, 'input');
  return Object.entries(properties as Record<string, Json>).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || (Array.isArray(needed) && needed.includes(name)),
    ...(description ? { description } : {}),
    schema: rest,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
