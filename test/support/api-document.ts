import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { Client } from './client.ts';

// biome-ignore lint/suspicious/noExplicitAny: it judges documents and bodies of unknown shape
type Body = any;

/** A response as received by a test's client. */
export interface Response {
  status: number;
  headers: Headers;
  body: Body;
}

/** Sends a request to the service under test with a user's key. */
export type Send = (
  path: string,
  request: { method: string; body?: unknown; headers: Record<string, string> },
) => Promise<Response>;

/** A request, generated from the document or to be validated by it. */
export interface Request {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Operation {
  name: string;
  method: string;
  path: string;
  definition: Body;
}

/** The OpenAPI document of the service under test, for validating requests and responses. */
export class ApiDocument {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #document: Body;
  readonly #send: Send;

  constructor(document: Body, send: Send) {
    this.#document = document;
    this.#send = send;
    this.#ajv.addSchema({ $id: 'document', components: document.components });
  }

  /** Reads the document of a client's service. */
  static async of(client: Client): Promise<ApiDocument> {
    const { body: document } = await client.call('GET', '/v1/openapi.json');
    return new ApiDocument(document, (path, { method, body, headers }) => client.call(method, path, body, headers));
  }

  get operations(): Operation[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Body).map(([method, definition]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        definition: definition as Body,
      })),
    );
  }

  operation(name: string): Operation {
    const found = this.operations.find((operation) => operation.name === name);
    if (!found) throw new Error(`The document has no ${name}.`);
    return found;
  }

  /** Returns whether the document allows a request. */
  fits({ definition }: Operation, request: Request): boolean {
    const places: Body = { path: request.path, query: request.query, header: request.headers };
    const parametersFit = (definition.parameters ?? []).every((parameter: Body) => {
      const value = places[parameter.in]?.[parameter.name];
      return value === undefined ? !parameter.required : this.#validator(parameter.schema)(value);
    });
    const { requestBody } = definition;
    if (!requestBody) return parametersFit;
    if (request.body === undefined) return parametersFit && !requestBody.required;
    return parametersFit && this.#validator(requestBody.content['application/json'].schema)(request.body);
  }

  /** Sends a request and returns the violations of the document in its response. */
  async judge(operation: Operation, request: Request): Promise<{ response: Response; problems: string[] }> {
    const { definition } = operation;
    const response = await this.#send(urlOf(operation, request), {
      method: operation.method,
      ...(request.body === undefined ? {} : { body: request.body }),
      headers: request.headers ?? {},
    });
    const problems: string[] = [];
    if (response.status >= 500) problems.push('a server error');
    const documented = definition.responses[response.status];
    if (!documented) problems.push('a status that is not documented');
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    const schema = (documented?.content?.[type] ?? documented?.content?.['application/json'])?.schema;
    if (schema) {
      const validate = this.#validator(schema);
      if (!validate(response.body))
        problems.push(`a body that does not conform: ${this.#ajv.errorsText(validate.errors)}`);
    }
    const reasons = definition.responses[400]?.['x-refusals'] ?? [];
    if (response.status === 400 && !reasons.includes(response.body?.reason) && this.fits(operation, request))
      problems.push('a valid request was refused');
    return { response, problems };
  }

  /** Generates requests that the document mostly allows; conditions between fields are left to chance. */
  requests({ definition }: Operation): fc.Arbitrary<Request> {
    const of = (place: string) => (definition.parameters ?? []).filter((parameter: Body) => parameter.in === place);
    const parameters = (place: string) =>
      this.#object(
        Object.fromEntries(of(place).map(({ name, schema }: Body) => [name, schema])),
        of(place).flatMap(({ name, required }: Body) => (required ? [name] : [])),
      );
    const schema = definition.requestBody?.content['application/json'].schema;
    return fc.record(
      {
        path: parameters('path'),
        query: parameters('query'),
        headers: parameters('header') as fc.Arbitrary<Record<string, string>>,
        body: schema ? this.#value(schema) : fc.constant(undefined),
      },
      { requiredKeys: ['path', ...(schema ? (['body'] as const) : [])] },
    );
  }

  readonly #validators = new Map<unknown, ValidateFunction>();

  #validator(schema: Body): ValidateFunction {
    const known = this.#validators.get(schema);
    if (known) return known;
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const made = this.#ajv.compile(JSON.parse(text));
    this.#validators.set(schema, made);
    return made;
  }

  #value(schema: Body): fc.Arbitrary<unknown> {
    if (schema.$ref) return this.#value(this.#document.components.schemas[schema.$ref.split('/').at(-1)]);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const options = schema.anyOf ?? schema.oneOf;
    if (options) return fc.oneof(...options.map((option: Body) => this.#value(option)));
    switch (schema.type) {
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) });
      case 'number':
        return fc.double({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000, noNaN: true });
      case 'array':
        return fc.array(this.#value(schema.items), { minLength: schema.minItems ?? 0, maxLength: 3 });
      case 'object':
        return schema.properties
          ? this.#object(schema.properties, schema.required ?? [])
          : fc.dictionary(
              this.#value({ type: 'string', ...schema.propertyNames }) as fc.Arbitrary<string>,
              this.#value(schema.additionalProperties ?? {}),
              { minKeys: schema.minProperties ?? 0, maxKeys: 3 },
            );
      case 'string':
        return schema.pattern
          ? fc
              .stringMatching(new RegExp(schema.pattern, 'u'))
              .filter((text) => text.length <= (schema.maxLength ?? 255))
          : fc.string({
              unit: 'binary',
              minLength: schema.minLength ?? 0,
              maxLength: Math.min(schema.maxLength ?? 30, 30),
            });
      default:
        return fc.jsonValue({ maxDepth: 1 });
    }
  }

  #object(properties: Body, required: string[]): fc.Arbitrary<Record<string, unknown>> {
    const members = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, this.#value(schema)]));
    const optional = Object.keys(members).filter((name) => !required.includes(name));
    // Few at a time of many: options rarely go together.
    return fc
      .subarray(optional, { maxLength: Math.min(optional.length, 4) })
      .chain((chosen) =>
        fc.record(
          Object.fromEntries([...required, ...chosen].map((name) => [name, members[name] ?? fc.constant(null)])),
        ),
      );
  }
}

function urlOf({ path }: Operation, request: Request): string {
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(request.path?.[name] ?? '')).replace(/^\.{1,2}$/, '%2E'),
  );
  const query = new URLSearchParams(
    Object.entries(request.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return query ? `${filled}?${query}` : filled;
}
