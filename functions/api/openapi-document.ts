import * as z from 'zod';
import type { Route } from '../../shared/http/endpoint.ts';
import { required } from '../../shared/settings.ts';
import { answers } from './answers.ts';
import { routes } from './routes.ts';

type Json = Record<string, unknown>;

const errorMeanings: Record<string, string> = {
  400: 'Bad request: a parameter is invalid.',
  401: 'Unauthorized: key missing or invalid.',
  403: 'Forbidden: access denied.',
  404: 'Not found: the specified content does not exist.',
  406: 'Not acceptable: a format other than JSON was requested.',
  409: 'Conflict: the request does not fit what exists.',
  413: 'The body is too large.',
  429: 'Too many requests.',
  500: 'Internal server error; retry later.',
};

/** Builds the OpenAPI 3.1 document of the API from the route table and its schemas. */
export function openapiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lathe',
      version: '1.0.5',
      description:
        'Converts, compresses and merges audio, video, image and document files. Work is tasks; tasks form jobs.',
    },
    servers: [{ url: required('LATHE_URL') }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      schemas: Object.fromEntries(Object.entries(answers).map(([name, schema]) => [name, schemaOf(schema, 'output')])),
    },
  };
}

function operation(name: string, route: Route): Json {
  const errors = [
    '400',
    '406',
    '429',
    '500',
    ...(route.access === 'key' ? ['401', '403'] : []),
    ...(route.params ? ['404'] : []),
    ...(route.body ? ['409', '413'] : []),
  ];
  return {
    operationId: name,
    summary: route.summary,
    tags: [route.tag],
    security: route.access === 'key' ? [{ key: [] }] : [],
    parameters: [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...(route.success === 201
        ? [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: false,
              description: 'The same key and body gives the same resource back.',
              schema: { type: 'string', maxLength: 255 },
            },
          ]
        : []),
    ],
    ...(route.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body, 'input') } } } }
      : {}),
    responses: {
      [route.success]: success(route),
      ...Object.fromEntries(
        errors.sort().map((status) => [
          status,
          {
            description: errorMeanings[status],
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        ]),
      ),
    },
  };
}

function success(route: Route): Json {
  if (route.success === 302)
    return { description: 'Redirects to the file.', headers: { Location: { schema: { type: 'string' } } } };
  if (!route.answer) return { description: 'Done.' };
  return {
    description: route.summary,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${route.answer}` } } },
  };
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
