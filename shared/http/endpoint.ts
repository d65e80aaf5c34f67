import { Logger } from '@aws-lambda-powertools/logger';
import middy, { type MiddlewareObj } from '@middy/core';
import httpContentNegotiation from '@middy/http-content-negotiation';
import httpErrorHandler from '@middy/http-error-handler';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { z } from 'zod';
import type { Account } from '../accounts/keys.ts';
import { readNumberSettings } from '../settings.ts';
import { authenticate } from './authenticate.ts';
import { badRequest, HttpError, type Refusal } from './errors.ts';
import { countRequest } from './rate-limit.ts';
import { parse } from './validate.ts';

type Schema = z.ZodType<unknown>;

/** One row of the route table: everything about an endpoint but what it does. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  summary: string;
  /** Under which heading the reference shows it. */
  tag: string;
  access: 'public' | 'key';
  /** What the function may touch; its role allows this and nothing else. */
  needs: readonly Need[];
  params?: Schema;
  query?: Schema;
  body?: Schema;
  /** True where a request without a body is one with an empty object. */
  emptyBody?: true;
  success: 200 | 201 | 302;
  /** Statuses that this endpoint may respond with beside those that follow from the rest of the row. */
  errors?: readonly (404 | 409)[];
  /** Why it refuses requests that fit its schemas. */
  refusals?: readonly Refusal[];
  /** The schema of a successful answer, by its name in the OpenAPI document; none where the body is empty or not JSON. */
  answer?: string;
  /** True where HEAD is answered as GET is. */
  alsoHead?: true;
  /** False where the answer is not JSON, so that any Accept header will do. */
  json?: false;
}

export type Need =
  | 'keys:check'
  | 'records:read'
  | 'records:write'
  | 'records:list'
  | 'records:due'
  | 'files:read'
  | 'files:write'
  | 'files:keep'
  | 'files:delete'
  | 'secrets:read'
  | 'secrets:write'
  | 'secrets:delete'
  | 'queues:send'
  | 'records:query'
  | 'events:send'
  | 'sockets:manage'
  /** To know where clients connect, which takes no permission. */
  | 'sockets:locate'
  | 'webhooks:send'
  | 'bus:put';

type Parsed<S> = S extends z.ZodType<infer Value> ? Value : undefined;

export interface ApiRequest<R extends Route> {
  account: R['access'] extends 'key' ? Account : undefined;
  params: Parsed<R['params']>;
  query: Parsed<R['query']>;
  body: Parsed<R['body']>;
  headers: Record<string, string | undefined>;
  method: string;
  requestId: string;
  logger: Logger;
  /** Milliseconds that are left before the function is ended. */
  remainingMs(): number;
}

export interface ApiAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** In place of a JSON body where the route says that it answers something else. */
  text?: string;
}

/** Above this a body is refused with our own answer; the gateway's own limit lies behind it. */
const largestBodyBytes = 5_500_000;

const logger = new Logger({ serviceName: 'lathe' });
const { ratePerMinute } = readNumberSettings(process.env);

/** Makes the Lambda handler of an endpoint: one chain for all of them, from the row of the route table. */
export function endpoint<const R extends Route>(route: R, handle: (request: ApiRequest<R>) => Promise<ApiAnswer>) {
  const chain = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(accessLog(route))
    .use(httpErrorHandler({ logger: false }))
    .use(errorBody());
  if (route.json !== false) chain.use(negotiateJson());
  if (route.body) chain.use(jsonBody(route.body, route.emptyBody === true));
  return chain.handler(async (event: APIGatewayProxyEventV2, context: Context) => {
    const account = route.access === 'key' ? await authenticate(event.headers) : undefined;
    const rate = account ? await countRequest(account.user, ratePerMinute) : {};
    const answer = await handle({
      account,
      params: route.params && parse(route.params, event.pathParameters ?? {}),
      query: route.query && parse(route.query, event.queryStringParameters ?? {}),
      body: route.body && parse(route.body, event.body),
      headers: event.headers,
      method: event.requestContext.http.method,
      requestId: event.requestContext.requestId,
      logger: logger.createChild({ persistentLogAttributes: { requestId: event.requestContext.requestId } }),
      remainingMs: () => context.getRemainingTimeInMillis(),
    } as ApiRequest<R>);
    return {
      statusCode: answer.status ?? route.success,
      headers: {
        ...(answer.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...rate,
        ...answer.headers,
      },
      body: answer.text ?? (answer.body === undefined ? '' : JSON.stringify(answer.body)),
    };
  });
}

type Middleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>;

function negotiateJson(): Middleware {
  const negotiation = httpContentNegotiation({
    parseCharsets: false,
    parseEncodings: false,
    parseLanguages: false,
    availableMediaTypes: ['application/json'],
  });
  return {
    before: (request) => negotiation.before?.(request as Parameters<NonNullable<typeof negotiation.before>>[0]),
  };
}

// The contract says 400 where the parser says 415 and 422. An absent body is read as an empty object, whose missing fields
// are then named; where none is missing it is refused, unless the endpoint needs no body.
function jsonBody(schema: Schema, mayBeEmpty: boolean): Middleware {
  const parser = httpJsonBodyParser({ disableContentTypeCheck: true });
  return {
    before: (request) => {
      const { event } = request;
      if (Buffer.byteLength(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8') > largestBodyBytes) {
        throw new HttpError(
          413,
          'payload_too_large',
          `The body is larger than ${largestBodyBytes} bytes. Bring large files in by import/upload or import/url.`,
        );
      }
      if (!event.body) {
        if (!mayBeEmpty && schema.safeParse({}).success) throw badRequest('Expected a JSON body; {} will do.');
        event.body = '{}';
      }
      const contentType = event.headers['content-type'];
      if (contentType && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType) && event.body !== '{}') {
        throw badRequest(`Expected a JSON body with Content-Type application/json but received ${contentType}.`);
      }
      return parser.before?.(request as unknown as Parameters<NonNullable<typeof parser.before>>[0]);
    },
  };
}

function errorBody(): Middleware {
  return {
    onError: (request) => {
      const error = toHttpError(request.error);
      const requestId = request.event.requestContext?.requestId;
      if (error.status >= 500) logger.error('request failed', { requestId, error: request.error ?? error });
      else if (error.cause)
        logger.info('request refused', { requestId, reason: error.message, cause: String(error.cause) });
      const body = {
        errorCode: error.errorCode,
        msg: error.message,
        ...(error.errors ? { errors: error.errors } : {}),
        ...(error.reason ? { reason: error.reason } : {}),
        ...(error.status >= 500 ? { requestId } : {}),
      };
      request.error = Object.assign(new Error(JSON.stringify(body)), {
        statusCode: error.status,
        expose: true,
        headers: { 'Content-Type': 'application/json', ...error.headers },
      });
    },
  };
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 406) return new HttpError(406, 'not_acceptable', 'Answers are JSON: send Accept: application/json.');
  if (status === 415 || status === 422) {
    const cause = error instanceof Error ? error.cause : undefined;
    const detail = cause && typeof cause === 'object' && 'message' in cause ? `: ${String(cause.message)}` : '';
    return badRequest(`The body is not valid JSON${detail}.`, undefined, error);
  }
  return new HttpError(
    500,
    'internal_error',
    'Something went wrong on our side. Retry later; quote the request id if it persists.',
    { cause: error },
  );
}

function accessLog(route: Route): Middleware {
  const started = new WeakMap<object, number>();
  const write: Middleware['after'] = ({ event, response }) => {
    logger.info('request', {
      requestId: event.requestContext?.requestId,
      route: `${route.method} ${route.path}`,
      status: response?.statusCode,
      milliseconds: Date.now() - (started.get(event) ?? Date.now()),
    });
  };
  return { before: ({ event }) => void started.set(event, Date.now()), after: write, onError: write };
}
