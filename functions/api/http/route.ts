import type { Logger } from '@aws-lambda-powertools/logger';
import type { z } from 'zod';
import type { Source } from '../../../shared/accounts/audit.ts';
import type { Caller, Scope } from '../../../shared/accounts/caller.ts';
import type { OperationName } from '../../../shared/operations/operations.ts';
import type { Refusal } from '../../../shared/operations/problems.ts';
import type { Permission } from '../../../shared/permissions.ts';

export type Schema = z.ZodType<unknown>;

/** One row of the route table: the interface of an endpoint. */
export interface Route {
  /** Module of the handler: a path in functions/api, without `.ts`. */
  module: string;
  /** Name of the function, if several rows share one. */
  sharedFunction?: string;
  /** Operation of the tasks that it creates. */
  operation?: OperationName;
  /** The only engine that its function invokes; defaults to all. */
  engine?: string;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  summary: string;
  /** Heading in the API reference. */
  tag: string;
  access: 'public' | 'key';
  /** True if only an API key is accepted, and not a session. */
  keyOnly?: true;
  /** Scope that the key or role must have. Required if access is `key`. */
  scope?: Scope;
  /** All permissions of its function. */
  permissions: readonly Permission[];
  /** Schemas are functions: a Lambda function only builds its own when it starts. */
  params?: () => Schema;
  query?: () => Schema;
  body?: () => Schema;
  /** Parameters of a request that may also be a form with files, or a file. The handler reads its body. */
  upload?: () => Schema;
  /** True if the body is optional. */
  emptyBody?: true;
  success: 200 | 201 | 302;
  /** Error statuses in addition to those that follow from the rest of the row. */
  errors?: readonly (403 | 404 | 409 | 422 | 503 | 504)[];
  /** Reasons for refusing requests that match its schemas. */
  refusals?: readonly Refusal[];
  /** Name of the response schema in the OpenAPI document; absent if the body is empty or not JSON. */
  response?: string;
  /** Another successful response; its body is empty if no schema is named. */
  alternative?: { status: 200 | 202; response?: string; description: string };
  /** A limit in addition to that of all requests: on creating tasks, or on waiting. */
  bucket?: 'create' | 'wait';
  /** True if the request waits for the end of what it creates, for as long as its Prefer header says. */
  mayWait?: true;
  /** True if HEAD requests are handled, too. */
  alsoHead?: true;
  /** False if the response is not JSON. The Accept header is then ignored. */
  json?: false;
  /** Shown with the message of an error to people who open the path in a browser. Programs receive JSON. */
  errorPage?: { title: string; link: { href: string; text: string } };
}

/** Returns the start of a row for a key or session with a scope. The status is 200 unless the row overrides it. */
export const keyed = <const S extends Scope>(method: Route['method'], path: string, scope: S, tag: string) =>
  ({ method, path, access: 'key', scope, tag, success: 200 }) as const;

/** Returns the start of a row without authentication. */
export const open = (method: Route['method'], path: string, tag: string) =>
  ({ method, path, access: 'public', tag, success: 200 }) as const;

/** A body of any type. */
export interface RawBody {
  content: Buffer;
  /** Its media type; empty if the request has none. */
  type: string;
  /** The query string of the request. */
  query: string;
}

/** Time for which a request may wait and occupy a function. */
export interface Hold {
  milliseconds: number;
  /** Gives back unused time. */
  giveBack(milliseconds: number): void;
}

type Parsed<S> = S extends () => z.ZodType<infer Value> ? Value : undefined;

export interface ApiRequest<R extends Route> {
  account: R['access'] extends 'key' ? Caller : undefined;
  params: Parsed<R['params']>;
  query: Parsed<R['query']>;
  body: Parsed<R['body']>;
  raw: R['upload'] extends () => Schema ? RawBody : undefined;
  /** Fields of the body that are not in the schema and are ignored. */
  unknownFields: string[];
  headers: Record<string, string | undefined>;
  /** Each as `name=value`. */
  cookies: string[];
  method: string;
  /** The path, which API Gateway has percent-decoded. */
  path: string;
  requestId: string;
  /** Source of the request, for the audit log. */
  source: Source;
  logger: Logger;
  /** Returns the milliseconds left until the function times out. */
  remainingMs(): number;
  /** How long the request may wait. */
  hold: R['access'] extends 'key' ? Hold : undefined;
}

export interface ApiResponse {
  status?: number;
  headers?: Record<string, string>;
  /** Values of Set-Cookie headers. */
  cookies?: string[];
  body?: unknown;
  /** Body of a response that is not JSON. */
  text?: string;
  /** Body of a response that is a file. */
  file?: Uint8Array;
}
