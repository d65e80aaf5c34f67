import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestMethods,
  ILoadOptionsFunctions,
} from 'n8n-workflow';
import { jsonParse, sleep } from 'n8n-workflow';

type Context = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions;

const maxAttempts = 5;
const maxPauseSeconds = 60;
const transientStatuses = new Set([429, 500, 502, 503, 504]);

/** A response of the service or of its file store. */
export interface ServiceResponse {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
}

interface ServiceRequest {
  method?: IHttpRequestMethods;
  query?: IDataObject;
  /** Sent as JSON. */
  json?: IDataObject;
  form?: FormData;
  headers?: Record<string, string>;
  /** Whether transient failures are retried; defaults to true. */
  retry?: boolean;
}

/** An error of the service, with its status. */
export class ServiceError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Sends a request with the credentials, and returns the response whatever its status is. */
export async function request(context: Context, path: string, options: ServiceRequest = {}): Promise<ServiceResponse> {
  const { url } = await context.getCredentials('latheApi');
  return send(context, `${String(url).replace(/\/+$/, '')}${path}`, options, true);
}

/** Sends a request with the credentials, and returns the JSON of a successful response. */
export async function requestJson<Body = IDataObject>(
  context: Context,
  path: string,
  options: ServiceRequest = {},
): Promise<Body> {
  const { body } = checked(await request(context, path, options));
  return jsonParse<Body>(body.toString() || '{}');
}

/** Sends a request without the credentials, such as to an upload form or the link of a result. */
export async function requestLink(
  context: Context,
  url: string,
  options: ServiceRequest = {},
): Promise<ServiceResponse> {
  return checked(await send(context, url, options, false));
}

/** Returns a successful response, and throws the message of any other. */
export function checked(response: ServiceResponse): ServiceResponse {
  const { status, body } = response;
  if (status >= 200 && status < 300) return response;
  throw new ServiceError(status, messageIn(body.toString(), status));
}

async function send(
  context: Context,
  url: string,
  { method = 'GET', query, json, form, headers = {}, retry = true }: ServiceRequest,
  authenticated: boolean,
): Promise<ServiceResponse> {
  const encoded = form === undefined ? undefined : new Response(form);
  const type = encoded?.headers.get('content-type') ?? (json === undefined ? undefined : 'application/json');
  const body = encoded === undefined ? json && JSON.stringify(json) : Buffer.from(await encoded.arrayBuffer());
  const options = {
    method,
    url,
    ...(query && { qs: query }),
    ...(body !== undefined && { body }),
    headers: { ...headers, ...(type && { 'content-type': type }) },
    encoding: 'arraybuffer' as const,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    // The link in a redirect leads to the file store, which must not receive the key.
    disableFollowRedirect: authenticated,
  };
  for (let attempt = 1; ; attempt++) {
    const received = await (authenticated
      ? context.helpers.httpRequestWithAuthentication.call(context, 'latheApi', options)
      : context.helpers.httpRequest(options));
    const response: ServiceResponse = {
      status: received.statusCode,
      headers: received.headers,
      body: Buffer.from(received.body ?? ''),
    };
    if (!retry || !transientStatuses.has(response.status) || attempt === maxAttempts) return response;
    const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
    await sleep(Math.min(Number.isNaN(seconds) ? 2 ** attempt / 2 : seconds, maxPauseSeconds) * 1000);
  }
}

function messageIn(text: string, status: number): string {
  const { msg, message, errors = {} } = parsed(text);
  const fields = Object.entries(errors).map(([field, problems]) => `${field}: ${[problems].flat().join(' ')}`);
  const general =
    msg ?? message ?? `The service responded with status ${status}. Check the base URL of the credentials.`;
  return [general, ...fields].join(' ');
}

interface ErrorBody {
  msg?: string;
  message?: string;
  errors?: Record<string, string | string[]>;
}

function parsed(text: string): ErrorBody {
  try {
    return jsonParse<ErrorBody>(text) ?? {};
  } catch {
    // API Gateway and stores respond with other types.
    return {};
  }
}
