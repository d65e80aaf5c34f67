import type { Logger } from '@aws-lambda-powertools/logger';
import type { z } from 'zod';
import type { Source } from '../../../shared/accounts/audit.ts';
import type { Caller, Scope } from '../../../shared/accounts/caller.ts';
import type { OperationName } from '../../../shared/operations/operations.ts';
import type { Refusal } from '../../../shared/operations/problems.ts';
import type { Permission } from '../../../shared/permissions.ts';

export type Schema = z.ZodType<unknown>;

/** One row of the route table: everything about an endpoint but what it does. */
export interface Route {
  /** The module that handles it: a path under functions/api, without `.ts`. */
  module: string;
  /** The operation whose task it creates, where one module serves several rows. */
  operation?: OperationName;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  summary: string;
  /** Heading in the API reference. */
  tag: string;
  access: 'public' | 'key';
  /** True where only a key is accepted, and not the session of a person. */
  keyOnly?: true;
  /** What a key, or the role of a person, must allow; every row with access by key has one. */
  scope?: Scope;
  /** What the role of its function allows, and nothing else. */
  permissions: readonly Permission[];
  params?: Schema;
  query?: Schema;
  body?: Schema;
  /** True if a request without a body is the same as one with an empty object. */
  emptyBody?: true;
  success: 200 | 201 | 302;
  /** Statuses of its responses beside those that follow from the rest of the row. */
  errors?: readonly (403 | 404 | 409 | 503)[];
  /** Why it refuses requests that match its schemas. */
  refusals?: readonly Refusal[];
  /** The schema of a successful response, by its name in the OpenAPI document; none where the body is empty or not JSON. */
  response?: string;
  /** Another successful response, to requests that say so; it is empty where no schema is named. */
  alternative?: { status: 200 | 202; response?: string; description: string };
  /** What it takes of a limit that is stricter than that of all requests: it creates work, or holds a function while it waits. */
  bucket?: 'create' | 'wait';
  /** True where HEAD is handled as GET is. */
  alsoHead?: true;
  /** False where the response is not JSON, so that any Accept header will do. */
  json?: false;
}

/** Time for which a request may be held, and a function with it. */
export interface Hold {
  milliseconds: number;
  /** Returns what of it was not needed. */
  giveBack(milliseconds: number): void;
}

type Parsed<S> = S extends z.ZodType<infer Value> ? Value : undefined;

export interface ApiRequest<R extends Route> {
  account: R['access'] extends 'key' ? Caller : undefined;
  params: Parsed<R['params']>;
  query: Parsed<R['query']>;
  body: Parsed<R['body']>;
  /** Fields of the body that the schema does not know, and that are ignored. */
  unknownFields: string[];
  headers: Record<string, string | undefined>;
  /** Each as `name=value`. */
  cookies: string[];
  method: string;
  requestId: string;
  /** Where it comes from, for the audit log. */
  source: Source;
  logger: Logger;
  /** Returns the milliseconds left until the function times out. */
  remainingMs(): number;
  /** How long the request may be held; an account has only so much time for that. */
  hold: R['access'] extends 'key' ? Hold : undefined;
}

export interface ApiResponse {
  status?: number;
  headers?: Record<string, string>;
  /** Values of Set-Cookie headers. */
  cookies?: string[];
  body?: unknown;
  /** In place of a JSON body where the row says that the response is not JSON. */
  text?: string;
}
