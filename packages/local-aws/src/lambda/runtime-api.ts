import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** A call of a process to the Runtime API. */
export type RuntimeCall = { type: 'next' } | { type: 'init/error' } | { type: 'response' | 'error'; requestId: string };

export type RuntimeCallHandler = (call: RuntimeCall, req: IncomingMessage, res: ServerResponse) => void;

const apiVersion = '2018-06-01';

/**
 * The server of the Lambda Runtime API on a loopback port. Every environment has an unguessable path of its own, so
 * that none can take another's invocations.
 */
export class RuntimeApiServer {
  readonly #server: Server;
  readonly #environments = new Map<string, RuntimeCallHandler>();
  #port: Promise<number> | undefined;

  constructor() {
    // A process may wait for its next invocation for hours, and a frozen one sends nothing.
    this.#server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (req, res) => this.#handle(req, res));
  }

  /** Opens the API for an environment; returns its AWS_LAMBDA_RUNTIME_API, and how to close it. */
  async open(handle: RuntimeCallHandler): Promise<{ address: string; close(): void }> {
    this.#port ??= this.#listen();
    const token = randomBytes(16).toString('hex');
    const address = `127.0.0.1:${await this.#port}/${token}`;
    this.#environments.set(token, handle);
    return { address, close: () => this.#environments.delete(token) };
  }

  /** Closes every connection and the port. */
  async close(): Promise<void> {
    if (!this.#port) return;
    await this.#port;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The Runtime API has no port.');
    return address.port;
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
    const [, token = '', version, runtime, ...path] = (req.url ?? '').split('/');
    const handle = this.#environments.get(token);
    const call = version === apiVersion && runtime === 'runtime' ? readCall(req.method, path) : undefined;
    if (handle && call) handle(call, req, res);
    else {
      req.resume();
      res.writeHead(404).end();
    }
  }
}

function readCall(method: string | undefined, path: string[]): RuntimeCall | undefined {
  const [first, second = '', third] = path;
  const name = path.join('/');
  if (method === 'GET') return name === 'invocation/next' ? { type: 'next' } : undefined;
  if (method !== 'POST') return undefined;
  if (name === 'init/error') return { type: 'init/error' };
  const known = first === 'invocation' && path.length === 3 && (third === 'response' || third === 'error');
  return known ? { type: third, requestId: second } : undefined;
}
