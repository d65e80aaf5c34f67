import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type ManagedConnections, manageConnection } from '../api-gateway/websocket/connections-api.ts';
import { type BatchJobs, callBatch } from '../batch/batch-api.ts';
import { dynamodbActions } from '../dynamodb/actions.ts';
import { eventsActions } from '../eventbridge/actions.ts';
import type { FaultName, Faults } from '../faults/faults.ts';
import type { Credentials } from '../iam/credentials.ts';
import { assertUnderstood, isAllowed } from '../iam/policy.ts';
import { createRecorder } from '../iam/record.ts';
import { type JsonService, operationOf, Refusal, type RequiredAction, type Service } from '../iam/refusal.ts';
import {
  createVerifier,
  type FindSession,
  parseQuery,
  type Query,
  type SignatureVerifier,
  type Verified,
} from '../iam/signature.ts';
import { type AssumeRole, callSts } from '../iam/sts.ts';
import { type InvokableFunctions, invokeFunction } from '../lambda/invoke-api.ts';
import { parseTarget, s3Actions } from '../s3/actions.ts';
import { headersOfContent, openBody } from '../s3/body.ts';
import type { Checksum } from '../s3/checksums.ts';
import { respondPreflight, setCorsHeaders } from '../s3/cors.ts';
import { readDeletion } from '../s3/delete-objects.ts';
import { S3Error } from '../s3/error.ts';
import { lateNotifications } from '../s3/late-notifications.ts';
import { notifyCreated } from '../s3/notifications.ts';
import { type S3Operation, operationOf as s3OperationOf } from '../s3/operations.ts';
import { postObject } from '../s3/post-object.ts';
import type { CreationListener } from '../s3/request.ts';
import { sqsActions } from '../sqs/actions.ts';
import type { LocalBucket, LocalStack, PolicyStatement } from '../template/model.ts';
import { CapturedResponse } from '../wire/forwarded-request.ts';
import { respondServiceError } from './errors.ts';
import type { Servers } from './servers.ts';
import { SessionConnections } from './session-connections.ts';
import { TransientError, TransientErrors } from './transient-errors.ts';

const prefix = '/_aws/';
const connectionsService = 'apigatewaymanagementapi';
const maxCallBytes = 16 * 1024 * 1024;

/** A call that the policies of its role do not allow. */
export interface Denial {
  roleArn: string;
  action: string;
  resource: string;
}

export interface GateOptions {
  stack: LocalStack;
  credentials: Credentials[];
  /** Defaults to verifying the credentials above, over the path that the gate is called with. */
  verifier?: SignatureVerifier;
  /** Finds session credentials, in addition to those above. */
  findSession?: FindSession;
  servers: Servers;
  /** Creates the credentials that AssumeRole returns. */
  assumeRole?: AssumeRole;
  putEvents?: (input: Record<string, unknown>) => Record<string, unknown>;
  /** The connections of the WebSocket API, if it has started. */
  sockets?: () => ManagedConnections | undefined;
  /** The functions that calls invoke, if they have started. */
  functions?: () => InvokableFunctions | undefined;
  /** The jobs of AWS Batch, if the stack has queues for them. */
  jobs?: BatchJobs | undefined;
  /** Faults of correct calls. */
  faults?: Faults | undefined;
  /** A folder to record decisions in. */
  recordFolder?: string | undefined;
  onDenied?: (denial: Denial) => void;
  /** Receives errors that callers see as internal errors. */
  onError?: (error: unknown) => void;
}

export interface Gate {
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Closes the connections of a session's callers. */
  disconnect(accessKeyId: string): void;
}

/**
 * Creates the gate, which forwards calls to the embedded servers if they are correctly signed and allowed by their
 * role.
 */
export function createGate(options: GateOptions): Gate {
  const { stack, servers } = options;
  assertUnderstood(stack);
  const record = createRecorder(options.recordFolder);
  const verifier = options.verifier ?? createVerifier(options.credentials, () => Date.now(), options.findSession);
  const connections = new SessionConnections();
  const buckets = new Map(stack.buckets.map((bucket) => [bucket.name, bucket]));
  const queuePolicies = new Map(stack.queues.map((queue) => [queue.arn, queue.policy]));
  const late = options.faults?.random('late-notifications');
  const sendNotification = late ? lateNotifications(servers.sendMessage, late) : servers.sendMessage;
  const notify: CreationListener = (kind, object) => notifyCreated(stack, sendNotification, record, kind, object);
  const errors = transientErrors(options.faults, 'errors');
  const losses = transientErrors(options.faults, 'lost-responses');
  // URLs that the API presigned are used by clients, which need not retry.
  const rolesOfApi = new Set([
    ...stack.httpApis.flatMap(({ routes }) => routes.map(({ function: fn }) => fn.role)),
    ...stack.assumableRoles,
  ]);
  servers.onObjectCreated(notify);

  function authorise(req: IncomingMessage, credentials: Credentials, needs: RequiredAction[]): void {
    const { role } = credentials;
    for (const need of needs) {
      const request = {
        caller: { type: 'role', arn: role.arn, account: stack.account },
        action: need.action,
        resource: need.resource,
        context: (key: string) => contextValue(need, key),
      } as const;
      const resource = resourcePolicy(need);
      const allowed = isAllowed(request, role.statements, resource);
      record(
        {
          role: role.logicalId,
          action: need.action,
          resource: need.resource,
          conditions: conditionValues(need),
          isAllowed: allowed,
          ...appOf(req),
        },
        { caller: request.caller, identity: role.statements, resource },
      );
      if (allowed) continue;
      options.onDenied?.({ roleArn: role.arn, action: need.action, resource: need.resource });
      throw new Refusal('access-denied', notAuthorized(role.arn, need));
    }
  }

  /**
   * Returns the error that the caller sees. S3 reveals a missing object only to callers that may list the whole bucket.
   */
  function errorFor({ role }: Credentials, bucket: string, error: unknown): unknown {
    if (!(error instanceof S3Error) || error.code !== 'NoSuchKey') return error;
    const need = { action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}` };
    const caller = { type: 'role', arn: role.arn, account: stack.account } as const;
    const request = { caller, ...need, context: (key: string) => contextValue(need, key) };
    if (isAllowed(request, role.statements, resourcePolicy(need))) return error;
    return new Refusal('access-denied', notAuthorized(role.arn, need));
  }

  function resourcePolicy(need: RequiredAction): PolicyStatement[] {
    if (need.action.startsWith('sqs:')) return queuePolicies.get(need.resource) ?? [];
    if (!need.action.startsWith('s3:')) return [];
    const bucket = need.resource.slice('arn:aws:s3:::'.length).split('/', 1)[0] ?? '';
    return buckets.get(bucket)?.policy ?? [];
  }

  async function handleJson(service: JsonService, req: IncomingMessage, res: ServerResponse, url: Url): Promise<void> {
    const { body, hash } = await readBody(req);
    const { credentials } = verifier.verify(service, req, url.path, url.query, hash);
    connections.add(credentials, req.socket);
    if (service === 'execute-api') {
      const path = url.path.slice(`${prefix}${connectionsService}`.length);
      manageConnection(stack, options.sockets?.(), req, res, { path, body }, (need) =>
        authorise(req, credentials, [need]),
      );
      return;
    }
    if (service === 'lambda') {
      const call = { path: url.path.slice(`${prefix}${service}`.length), query: url.query, body };
      await invokeFunction(stack, options.functions?.(), req, res, call, (need) => authorise(req, credentials, [need]));
      return;
    }
    if (service === 'batch') {
      const call = { method: req.method ?? '', path: url.path.slice(`${prefix}${service}`.length) };
      callBatch(options.jobs, call, parseInput(body), res, (need) => authorise(req, credentials, [need]));
      return;
    }
    const operation = operationOf(service, req.headers['x-amz-target']);
    const input = parseInput(body);
    if (service === 'events') {
      authorise(req, credentials, eventsActions(stack, operation, input));
      const output = JSON.stringify(options.putEvents?.(input) ?? {});
      res.setHeader('content-type', 'application/x-amz-json-1.1').end(output);
      return;
    }
    authorise(
      req,
      credentials,
      service === 'dynamodb' ? dynamodbActions(stack, operation, input) : sqsActions(stack, operation, input),
    );
    if (errors?.next()) throw errors.error(service);
    if (losses?.losesResponse(service, operation)) {
      const lost = new CapturedResponse();
      await servers[service](req, lost, body);
      await lost.body;
      throw losses.error(service);
    }
    await servers[service](req, res, body);
  }

  async function handleSts(req: IncomingMessage, res: ServerResponse, url: Url): Promise<void> {
    const { body, hash } = await readBody(req);
    const { credentials } = verifier.verify('sts', req, url.path, url.query, hash);
    connections.add(credentials, req.socket);
    if (!options.assumeRole) throw new Refusal('unsupported', 'No role can be assumed here.');
    const response = callSts(stack, body, options.assumeRole, (need) => authorise(req, credentials, [need]));
    res.setHeader('content-type', 'text/xml').end(response);
  }

  async function handleS3(req: IncomingMessage, res: ServerResponse, url: Url): Promise<void> {
    const target = parseTarget(url.path.slice(`${prefix}s3`.length));
    const bucket = buckets.get(target.bucket);
    setRequestId(res);
    if (bucket) setCorsHeaders(bucket.cors, req, res);
    if (req.method === 'OPTIONS') {
      respondPreflight(bucket?.cors ?? [], req, res);
      return;
    }
    if (isForm(req, target.key, url.query) && bucket) {
      await handleForm(req, res, bucket);
      return;
    }
    const verified = verifier.verify('s3', req, url.path, url.query, undefined);
    if (!verified.presigned) connections.add(verified.credentials, req.socket);
    const query = operationQuery(url.query);
    const sent = { ...req.headers, ...(verified.presigned ? headersInQuery(url.query) : {}) };
    const operation = s3OperationOf(req.method ?? 'GET', target.key, query, sent);
    const authoriseKeys = (keys: string[]) =>
      authorise(req, verified.credentials, s3Actions(operation, target, query, sent, keys));
    // The keys to delete are in the body. All other calls are refused before their body is read.
    if (operation !== 'DeleteObjects') authoriseKeys([]);
    const isOfClient = verified.presigned && rolesOfApi.has(verified.credentials.role);
    if (!isOfClient && errors?.next()) throw errors.error('s3');
    const { body, headers, checksum } = openContent(req, verified, sent, operation);
    try {
      const deletion = operation === 'DeleteObjects' && body ? await readDeletion(body, headers) : undefined;
      if (deletion) authoriseKeys(deletion.keys);
      const location = `http://${req.headers.host ?? '127.0.0.1'}${url.path}`;
      await servers.s3({ operation, ...target, query, headers, body, checksum, location, deletion }, res);
    } catch (error) {
      throw errorFor(verified.credentials, target.bucket, error);
    } finally {
      body?.destroy();
    }
  }

  async function handleForm(req: IncomingMessage, res: ServerResponse, bucket: LocalBucket): Promise<void> {
    await postObject(req, res, {
      bucket: bucket.name,
      store: servers.forms,
      verifier,
      bucketUrl: `http://${req.headers.host ?? '127.0.0.1'}${prefix}s3/${bucket.name}`,
      authorise: (credentials, key) =>
        authorise(req, credentials, [{ action: 's3:PutObject', resource: `${bucket.arn}/${key}` }]),
      created: (object) => notify('Post', object),
    });
  }

  return {
    disconnect: (accessKeyId) => connections.close(accessKeyId),
    async handle(req, res) {
      req.on('error', ignore);
      res.on('error', ignore);
      const url = splitUrl(req.url ?? '/');
      const service = serviceOf(url.path);
      try {
        const parsed = { path: url.path, query: parseQuery(url.query) };
        if (service === 's3') await handleS3(req, res, parsed);
        else if (service === 'sts') await handleSts(req, res, parsed);
        else await handleJson(service, req, res, parsed);
      } catch (error) {
        if (isInternal(error) && !res.destroyed) options.onError?.(error);
        respondServiceError(service, error, res);
        // Drops the rest of the body, so that the connection can carry the next request.
        req.resume();
      }
    },
  };
}

function transientErrors(faults: Faults | undefined, name: FaultName): TransientErrors | undefined {
  const random = faults?.random(name);
  return random && new TransientErrors(random);
}

interface Url {
  path: string;
  query: Query;
}

function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function serviceOf(path: string): Service {
  const name = path.slice(prefix.length).split('/', 1)[0];
  if (name === connectionsService) return 'execute-api';
  return name === 'dynamodb' ||
    name === 'sqs' ||
    name === 'events' ||
    name === 'lambda' ||
    name === 'batch' ||
    name === 'sts'
    ? name
    : 's3';
}

function contextValue(need: RequiredAction, key: string): string[] | undefined {
  const name = key.toLowerCase();
  // The loopback interface counts as TLS: nothing on it leaves the machine.
  if (name === 'aws:securetransport') return ['true'];
  return need.conditions?.[name]?.();
}

function notAuthorized(roleArn: string, { action, resource }: RequiredAction): string {
  return `User: ${roleArn} is not authorized to perform: ${action} on resource: ${resource}`;
}

function conditionValues({ conditions = {} }: RequiredAction): Record<string, string[]> {
  return Object.fromEntries(Object.entries(conditions).map(([key, read]) => [key, read() ?? []]));
}

/** Reads the application from a user agent such as `aws-sdk-js/3.0 … app/tests`. */
function appOf({ headers }: IncomingMessage): { app?: string } {
  const app = /(?:^| )app\/(\S+)/.exec(`${headers['x-amz-user-agent']} ${headers['user-agent']}`)?.[1];
  return app === undefined ? {} : { app };
}

/** Reads a body, and its hash while it arrives: a hash of megabytes takes as long as receiving them. */
async function readBody(req: IncomingMessage): Promise<{ body: Buffer; hash: string }> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req) {
    size += chunk.length;
    if (size > maxCallBytes) throw new Refusal('too-large', 'Request must be smaller than 16 MB.');
    chunks.push(chunk);
    hash.update(chunk);
  }
  const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  return { body, hash: hash.digest('hex') };
}

function parseInput(body: Buffer): Record<string, unknown> {
  let input: unknown;
  try {
    input = JSON.parse(body.toString());
  } catch {
    throw new Refusal('invalid-request', 'The body is not JSON.');
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new Refusal('invalid-request', 'The body is not a JSON object.');
  }
  return Object.fromEntries(Object.entries(input));
}

function isForm(req: IncomingMessage, key: string, query: Query): boolean {
  return req.method === 'POST' && key === '' && req.headers.authorization === undefined && query.pairs.length === 0;
}

/** Returns the query without the signature's parameters and the SDK's request label. */
function operationQuery(query: Query): URLSearchParams {
  return new URLSearchParams(query.pairs.filter(([name]) => name !== 'x-id' && !/^x-amz-/i.test(name)));
}

/** The signature parameters of a presigned URL; other `X-Amz-` parameters replace headers. */
const signatureParameters =
  /^x-amz-(algorithm|content-sha256|credential|date|expires|security-token|signature|signedheaders|user-agent)$/;

function headersInQuery(query: Query): Record<string, string> {
  return Object.fromEntries(
    query.pairs
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => name.startsWith('x-amz-') && !signatureParameters.test(name)),
  );
}

interface Content {
  body: Readable | undefined;
  headers: IncomingMessage['headers'];
  checksum(): Checksum | undefined;
}

function openContent(
  req: IncomingMessage,
  verified: Verified,
  headers: IncomingMessage['headers'],
  operation: S3Operation,
): Content {
  if (req.method !== 'PUT' && req.method !== 'POST') return { body: undefined, headers, checksum: () => undefined };
  if ((operation === 'PutObject' || operation === 'UploadPart') && isOfUnknownLength(req))
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  // When completing an upload, these headers carry the checksum of the object, not of the body.
  const ofBody = operation === 'CompleteMultipartUpload' ? withoutChecksums(headers) : headers;
  const { body, length, checksum } = openBody(req, verified, ofBody);
  return { body, headers: headersOfContent(headers, length), checksum };
}

function isOfUnknownLength({ headers }: IncomingMessage): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

function withoutChecksums(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('x-amz-checksum-')));
}

let requests = 0;

function setRequestId(res: ServerResponse): void {
  requests += 1;
  res.setHeader('x-amz-request-id', requests.toString(16).toUpperCase().padStart(16, '0'));
}

function isInternal(error: unknown): boolean {
  return !(error instanceof Refusal || error instanceof S3Error || error instanceof TransientError);
}

function ignore(): void {
  // The client disconnected.
}
