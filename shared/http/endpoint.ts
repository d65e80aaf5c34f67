import type { Logger } from '@aws-lambda-powertools/logger';
import type { z } from 'zod';
import type { Account } from '../accounts/keys.ts';
import { readNumberSettings } from '../settings.ts';
import { authenticate } from './authenticate.ts';
import { handlerOf } from './chain.ts';
import type { Refusal } from './errors.ts';
import { countRequest } from './rate-limit.ts';

export type Schema = z.ZodType<unknown>;

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

const { ratePerMinute } = readNumberSettings(process.env);

/** Makes the Lambda handler of an endpoint that takes an API key. */
export function endpoint<const R extends Route & { access: 'key' }>(
  route: R,
  handle: (request: ApiRequest<R>) => Promise<ApiAnswer>,
) {
  return handlerOf(
    route,
    async (headers) => {
      const account = await authenticate(headers);
      return { account, headers: await countRequest(account.user, ratePerMinute) };
    },
    handle,
  );
}
