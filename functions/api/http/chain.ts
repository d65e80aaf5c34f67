import { Logger } from '@aws-lambda-powertools/logger';
import middy, { type MiddlewareObj } from '@middy/core';
import httpContentNegotiation from '@middy/http-content-negotiation';
import httpErrorHandler from '@middy/http-error-handler';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { maxAgentLength } from '../../../shared/accounts/audit.ts';
import type { Caller } from '../../../shared/accounts/caller.ts';
import { defined } from '../../../shared/defined.ts';
import { acceptsPages, plainPage, plainPageHeaders } from '../../../shared/net/plain-page.ts';
import { badRequest, HttpError } from './errors.ts';
import type { ApiRequest, ApiResponse, Hold, RawBody, Route, Schema } from './route.ts';
import { usualHeaders } from './usual-headers.ts';
import { parse, unknownFields } from './validate.ts';
import { viewerAddress } from './viewer.ts';

/** The caller of a request, the headers of its response, and how long it may wait. */
export interface Admission {
  account?: Caller;
  headers: Record<string, string>;
  hold?: Hold;
  /** Throws if the caller is not allowed to make this request. */
  authorize?(): void;
  /** Throws if the caller has lost access during a wait. */
  confirm?(): Promise<void>;
}

/** Lower than the limit of API Gateway, so that clients get an error in our format. */
const maxBodyBytes = 5_500_000;

/** The limit of CloudFront. API Gateway alone accepts URLs of up to 10,240 bytes. */
const maxUrlBytes = 8_192;

/** Keeps scripts in a file, such as a web page or an SVG, from acting as a page of this host. */
const sandboxed = { 'Content-Security-Policy': "default-src 'none'; sandbox" };

const logger = new Logger({ serviceName: 'lathe' });

/** Creates the Lambda handler of a row of the route table. */
export function handlerOf<const R extends Route>(
  route: R,
  admit: (event: APIGatewayProxyEventV2) => Promise<Admission>,
  handle: (request: ApiRequest<R>) => Promise<ApiResponse>,
) {
  // Runs before any other check, so that every refused request is counted and has the RateLimit headers.
  const admissions = new WeakMap<object, Admission>();
  const admitted: Middleware = {
    before: async ({ event }) => {
      const admission = await admit(event);
      admissions.set(event, admission);
      admission.authorize?.();
    },
  };
  const chain = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(accessLog(route))
    .use(httpErrorHandler({ logger: false }))
    .use(errorBody(route, (event) => admissions.get(event)?.headers))
    .use(admitted)
    .use({ before: ({ event }) => checkUrl(event) });
  const [params, query, body] = [route.params?.(), route.query?.(), route.body?.()];
  if (route.json !== false) chain.use(negotiateJson());
  if (body) chain.use(jsonBody(body, route.emptyBody === true));
  return chain.handler(async (event: APIGatewayProxyEventV2, context: Context) => {
    const admission = admissions.get(event);
    const response = await handle({
      account: admission?.account,
      params: params && parse(params, event.pathParameters ?? {}),
      query: query && parse(query, event.queryStringParameters ?? {}),
      body: body && parse(body, event.body),
      raw: route.upload ? rawBodyOf(event) : undefined,
      unknownFields: body ? unknownFields(body, event.body) : [],
      headers: event.headers,
      cookies: event.cookies ?? [],
      method: event.requestContext.http.method,
      path: event.rawPath,
      requestId: event.requestContext.requestId,
      source: {
        address: viewerAddress(event),
        agent: (event.headers['user-agent'] ?? '').slice(0, maxAgentLength).toWellFormed(),
      },
      // Lazy, because few requests log anything.
      get logger() {
        return logger.createChild({ persistentLogAttributes: { requestId: event.requestContext.requestId } });
      },
      remainingMs: () => context.getRemainingTimeInMillis(),
      hold: admission?.hold,
    } as ApiRequest<R>);
    await admission?.confirm?.();
    return {
      statusCode: response.status ?? route.success,
      headers: {
        ...(response.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...usualHeaders,
        ...(response.file ? sandboxed : {}),
        ...admission?.headers,
        ...response.headers,
      },
      ...bodyOf(response),
      ...(response.cookies ? { cookies: response.cookies } : {}),
    };
  });
}

function bodyOf({
  file,
  text,
  body,
}: ApiResponse): Pick<APIGatewayProxyStructuredResultV2, 'body' | 'isBase64Encoded'> {
  if (file) return { body: Buffer.from(file).toString('base64'), isBase64Encoded: true };
  return { body: text ?? (body === undefined ? '' : JSON.stringify(body)) };
}

function rawBodyOf({ body = '', isBase64Encoded, headers, rawQueryString }: APIGatewayProxyEventV2): RawBody {
  return {
    content: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
    type: headers['content-type'] ?? '',
    query: rawQueryString,
  };
}

type Middleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>;

/** Throws the 413 for a long URL. The host is not counted, because CloudFront replaces it. */
function checkUrl({ rawPath, rawQueryString }: APIGatewayProxyEventV2): void {
  if (Buffer.byteLength(`${rawPath}?${rawQueryString}`) > maxUrlBytes)
    throw new HttpError(413, 'url_too_long', `Expected a URL of at most ${maxUrlBytes} bytes.`);
}

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

// The spec requires 400 for errors that the parser reports as 415 and 422. An absent body is parsed as an empty object, so
// that the error names the missing fields. If no field is required, it is refused unless the body is optional.
function jsonBody(schema: Schema, mayBeEmpty: boolean): Middleware {
  const parser = httpJsonBodyParser({ disableContentTypeCheck: true });
  return {
    before: (request) => {
      const { event } = request;
      if (Buffer.byteLength(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8') > maxBodyBytes) {
        throw new HttpError(
          413,
          'payload_too_large',
          `The body is larger than ${maxBodyBytes} bytes. Import large files with import/upload or import/url.`,
        );
      }
      if (!event.body) {
        if (!mayBeEmpty && schema.safeParse({}).success) throw badRequest('Expected a JSON body, such as {}.');
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

function errorBody(route: Route, headersOf: (event: object) => Record<string, string> | undefined): Middleware {
  return {
    onError: (request) => {
      const error = toHttpError(request.error);
      const requestId = request.event.requestContext?.requestId;
      const ids = { requestId, ...idsIn(request.event.pathParameters) };
      if (error.status >= 500) logger.error('request failed', { ...ids, error: request.error ?? error });
      else if (error.cause)
        logger.info('request refused', { ...ids, reason: error.message, cause: String(error.cause) });
      const body = {
        errorCode: error.errorCode,
        msg: error.message,
        errors: error.errors,
        reason: error.reason,
        requestId: error.status >= 500 ? requestId : undefined,
      };
      const { errorPage } = route;
      if (errorPage && acceptsPages(route.method, request.event.headers?.accept)) {
        request.error = Object.assign(new Error(plainPage({ ...errorPage, text: error.message })), {
          statusCode: error.status,
          expose: true,
          headers: { ...plainPageHeaders, ...error.headers },
        });
        return;
      }
      request.error = Object.assign(new Error(JSON.stringify(body)), {
        statusCode: error.status,
        expose: true,
        headers: { 'Content-Type': 'application/json', ...usualHeaders, ...headersOf(request.event), ...error.headers },
      });
    },
  };
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 406) return new HttpError(406, 'not_acceptable', 'Responses are JSON: send Accept: application/json.');
  if (status === 415 || status === 422) {
    const cause = error instanceof Error ? error.cause : undefined;
    // The parser reports a forbidden name without a message, and other errors with the message of JSON.parse.
    if (cause && typeof cause === 'object' && 'data' in cause && !('message' in cause))
      return new HttpError(400, 'bad_request', `Expected no field named ${cause.data}.`, { reason: 'forbidden_name' });
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
  const write: Middleware['after'] = ({ event, context, response }) => {
    logger.info('request', {
      requestId: event.requestContext?.requestId,
      invocationId: context.awsRequestId,
      ...idsIn(event.pathParameters),
      route: `${route.method} ${route.path}`,
      status: response?.statusCode,
      // API Gateway logs the address of a CloudFront server instead.
      ip: viewerAddress(event),
      milliseconds: Date.now() - (started.get(event) ?? Date.now()),
    });
  };
  return { before: ({ event }) => void started.set(event, Date.now()), after: write, onError: write };
}

/** Returns the ids in a path, by which the logs of a task or job are found. */
function idsIn(parameters: APIGatewayProxyEventV2['pathParameters']): Record<string, string> {
  const { taskId, jobId } = parameters ?? {};
  return defined({ taskId, jobId });
}
