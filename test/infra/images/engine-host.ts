import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, json, text } from 'node:stream/consumers';
import type { EngineRequest, EngineResponse } from '../../../functions/engines/runtime/protocol.ts';
import type { Sample } from '../../../infra/smoke/samples.ts';

const timeoutMs = 180_000;

interface Waiting {
  request: EngineRequest;
  settle: (lines: string) => void;
  fail: (error: Error) => void;
}

/** Returns the variables of an engine's function in Lambda. */
export function givenByLambda(engine: string, host: EngineHost): Record<string, string> {
  return {
    AWS_LAMBDA_RUNTIME_API: host.address,
    AWS_LAMBDA_FUNCTION_NAME: engine,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '2048',
    AWS_LAMBDA_LOG_GROUP_NAME: engine,
    AWS_LAMBDA_LOG_STREAM_NAME: engine,
  };
}

/** The files and the Runtime API of an engine: the two things that an image reaches in Lambda. */
export class EngineHost {
  readonly #server: Server;
  #input: Buffer = Buffer.alloc(0);
  #outputs = new Map<string, Buffer>();
  #waiting: Waiting | undefined;
  #next: (() => void) | undefined;
  #failed: Error | undefined;
  /** The tenant of its invocations. Defaults to none. */
  tenantId: string | undefined;
  /** Barriers that stood at the last conversion. */
  barriers: string[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(toError(error)));
    });
  }

  static async start(): Promise<EngineHost> {
    const host = new EngineHost();
    host.#server.listen(0, '127.0.0.1');
    await once(host.#server, 'listening');
    return host;
  }

  /** Returns the value of AWS_LAMBDA_RUNTIME_API. */
  get address(): string {
    const address = this.#server.address();
    if (!isAddress(address)) throw new Error('The server has no address.');
    return `127.0.0.1:${address.port}`;
  }

  /** Converts a sample with the engine, and returns the only output file. */
  async convert(sample: Sample): Promise<Buffer> {
    this.#input = await sample.content();
    this.#outputs = new Map();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting = { request: this.#requestFor(sample), settle: resolve, fail: reject };
    if (this.#failed) reject(this.#failed);
    this.#next?.();
    const timer = setTimeout(() => reject(new Error('The engine did not respond in time.')), timeoutMs);
    const lines = await promise.finally(() => clearTimeout(timer));
    const responses = lines
      .trim()
      .split('\n')
      .map((line): EngineResponse => JSON.parse(line));
    for (const response of responses)
      if (response.type === 'isolation')
        this.barriers = Object.entries(response.barriers).flatMap(([name, { stands }]) => (stands ? name : []));
    const last = responses.at(-1);
    if (last?.type !== 'done') throw new Error(JSON.stringify(last));
    const output = this.#outputs.get('out/0');
    if (!output) throw new Error('The engine stored no file.');
    return output;
  }

  /** Fails pending and future conversions: the engine's process has ended. */
  fail(error: Error): void {
    this.#failed = error;
    this.#waiting?.fail(error);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #requestFor({ name, format, outputFormat }: Sample): EngineRequest {
    const origin = `http://${this.address}`;
    return {
      taskId: randomUUID(),
      attempt: 1,
      tenant: 'images',
      operation: 'convert',
      inputs: [{ url: `${origin}/in`, name, format, size: this.#input.length }],
      outputFormat,
      options: {},
      output: { url: `${origin}/out`, fields: {}, prefix: 'out/' },
      maxOutputBytes: 4 * 1024 ** 3,
      revoked: `${origin}/revoked`,
      deadline: Date.now() + timeoutMs,
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    if (url === '/in') response.end(this.#input);
    else if (url === '/out') {
      await this.#store(request);
      response.writeHead(204, { etag: '"0"' }).end();
    } else if (url.endsWith('/runtime/invocation/next')) await this.#sendNext(response);
    else if (method === 'POST' && url.endsWith('/response')) {
      const lines = await text(request);
      response.writeHead(202).end();
      this.#waiting?.settle(lines);
      this.#waiting = undefined;
    } else if (method === 'POST' && url.endsWith('/error')) {
      const report = JSON.stringify(await json(request));
      response.writeHead(202).end();
      this.fail(new Error(`The function failed: ${report}`));
    } else response.writeHead(404).end();
  }

  async #sendNext(response: ServerResponse): Promise<void> {
    while (!this.#waiting) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#next = resolve;
      await promise;
    }
    response
      .writeHead(200, {
        'Lambda-Runtime-Aws-Request-Id': randomUUID(),
        'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:eu-west-1:000000000000:function:engine',
        'Lambda-Runtime-Deadline-Ms': String(this.#waiting.request.deadline),
        ...(this.tenantId === undefined ? {} : { 'Lambda-Runtime-Aws-Tenant-Id': this.tenantId }),
      })
      .end(JSON.stringify(this.#waiting.request));
  }

  async #store(request: IncomingMessage): Promise<void> {
    const headers = { 'Content-Type': request.headers['content-type'] ?? '' };
    const form = await new Response(new Uint8Array(await buffer(request)), { headers }).formData();
    const [key, file] = [form.get('key'), form.get('file')];
    if (typeof key !== 'string' || !(file instanceof Blob)) throw new Error('The form has no key or no file.');
    this.#outputs.set(key, Buffer.from(await file.arrayBuffer()));
  }
}

function isAddress(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
