import type { ClientRequest, IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import type { ErrorReport } from './errors.ts';

// An import would evaluate all exports; the one for WebSockets loads Node's whole fetch: 45 ms of processor time.
const { Agent, request } = process.getBuiltinModule('node:http');

export interface Invocation {
  requestId: string;
  functionArn: string;
  /** Milliseconds since the epoch. */
  deadline: number;
  /** The tenant of this environment, if the function isolates tenants. */
  tenantId: string | undefined;
  /** Forwarded by the SDK to the services it calls. Lambda uses it to detect recursive loops. */
  trace: string | undefined;
  /** JSON text. */
  event: Buffer;
}

const version = '2018-06-01';
const errorTypeHeader = 'Lambda-Runtime-Function-Error-Type';
const errorBodyHeader = 'Lambda-Runtime-Function-Error-Body';

/** The HTTP interface through which Lambda, or its local replacement, drives a function's process. */
export class RuntimeApi {
  readonly #base: URL;
  /** One connection: requests are sequential. No timeout: `next` may wait for hours. */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** Takes `host:port`, followed by a path if several processes share a server. */
  constructor(address: string) {
    this.#base = new URL(`http://${address.replace(/\/$/, '')}/${version}/runtime/`);
  }

  /** Waits for the next invocation. */
  async next(): Promise<Invocation> {
    const { status, headers, body } = await this.#call('GET', 'invocation/next');
    if (status !== 200) throw new Error(`Expected 200 for the next invocation but received ${status}: ${body}`);
    return {
      requestId: String(headers['lambda-runtime-aws-request-id']),
      functionArn: String(headers['lambda-runtime-invoked-function-arn']),
      deadline: Number(headers['lambda-runtime-deadline-ms']),
      tenantId: headers['lambda-runtime-aws-tenant-id']?.toString(),
      trace: headers['lambda-runtime-trace-id']?.toString(),
      event: body,
    };
  }

  /** Sends the JSON text of a response. */
  async respond(requestId: string, payload: string): Promise<void> {
    expectAccepted(await this.#call('POST', `invocation/${requestId}/response`, payload));
  }

  /** Opens the stream of a response; the request starts with the first byte. */
  stream(requestId: string): ResponseStream {
    return new ResponseStream((contentType) => {
      const sent = this.#open('POST', `invocation/${requestId}/response`, {
        'Lambda-Runtime-Function-Response-Mode': 'streaming',
        'Content-Type': contentType,
        'Transfer-Encoding': 'chunked',
        Trailer: `${errorTypeHeader}, ${errorBodyHeader}`,
      });
      return { request: sent, response: responseOf(sent) };
    });
  }

  /** Reports that an invocation failed. */
  async fail(requestId: string, report: ErrorReport): Promise<void> {
    await this.#reportError(`invocation/${requestId}/error`, report);
  }

  /** Reports that the function could not start. */
  async failStart(report: ErrorReport): Promise<void> {
    await this.#reportError('init/error', report);
  }

  async #reportError(path: string, report: ErrorReport): Promise<void> {
    const headers = {
      'Content-Type': 'application/vnd.aws.lambda.error+json',
      [errorTypeHeader]: report.errorType,
    };
    expectAccepted(await this.#call('POST', path, JSON.stringify(report), headers));
  }

  async #call(method: string, path: string, payload = '', headers: Record<string, string> = {}): Promise<Reply> {
    const body = Buffer.from(payload);
    const sent = this.#open(method, path, {
      ...(method === 'POST' ? { 'Content-Type': 'application/json', 'Content-Length': String(body.length) } : {}),
      ...headers,
    });
    const response = responseOf(sent);
    sent.end(body);
    return await response;
  }

  #open(method: string, path: string, headers: Record<string, string>): ClientRequest {
    return request(new URL(path, this.#base), { method, headers, agent: this.#agent });
  }
}

interface Opened {
  request: ClientRequest;
  response: Promise<Reply>;
}

/** The body of a streamed response. */
export class ResponseStream extends Writable {
  readonly #open: (contentType: string) => Opened;
  #opened: Opened | undefined;
  #contentType = 'application/octet-stream';

  constructor(open: (contentType: string) => Opened) {
    super();
    this.#open = open;
  }

  /** Whether part of the response was sent, after which a failure can only be reported at its end. */
  get begun(): boolean {
    return this.#opened !== undefined;
  }

  /** Sets the media type, before the first chunk. */
  setContentType(contentType: string): void {
    this.#contentType = contentType;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#begin().write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#begin().end();
    this.accepted().then(() => done(), done);
  }

  /** Ends the response with an error, after what was written. */
  async fail(report: ErrorReport): Promise<void> {
    const sent = this.#begin();
    sent.addTrailers({
      [errorTypeHeader]: report.errorType,
      [errorBodyHeader]: Buffer.from(JSON.stringify(report)).toString('base64'),
    });
    sent.end();
    await this.accepted();
  }

  /** Waits until the whole response was accepted. */
  async accepted(): Promise<void> {
    if (this.#opened) expectAccepted(await this.#opened.response);
  }

  #begin(): ClientRequest {
    this.#opened ??= this.#open(this.#contentType);
    return this.#opened.request;
  }
}

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

function responseOf(sent: ClientRequest): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  sent.on('error', reject);
  sent.once('response', (response) => {
    const { statusCode: status = 0, headers } = response;
    const chunks: Buffer[] = [];
    // By events: `toArray` takes a third longer for an event of megabytes.
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('end', () => resolve({ status, headers, body: Buffer.concat(chunks) })).once('error', reject);
  });
  return promise;
}

function expectAccepted({ status, body }: Reply): void {
  // One that is too large was turned into a failed invocation; the process goes on with the next.
  if (status === 202 || status === 413) return;
  throw new Error(`Expected 202 from the Runtime API but received ${status}: ${body}`);
}
