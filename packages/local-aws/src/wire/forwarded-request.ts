import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

interface Original {
  method?: string | undefined;
  socket: Socket;
}

/** A request for an embedded server; without a body, the caller emits it, so that what the server throws reaches it. */
export class ForwardedRequest extends IncomingMessage {
  constructor(original: Original, url: string, headers: IncomingMessage['headers'], body?: Buffer) {
    super(original.socket);
    this.method = original.method ?? 'POST';
    this.url = url;
    this.headers = headers;
    this.httpVersion = '1.1';
    if (!body) return;
    this.complete = true;
    if (body.length > 0) this.push(body);
    this.push(null);
  }

  override _read(): void {
    // Nothing to pull.
  }

  // The socket stays the client's: the base class would destroy it with the request.
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
  }
}

/** A response that keeps what an embedded server writes instead of sending it. */
export class CapturedResponse extends ServerResponse {
  readonly body: Promise<string>;
  #resolve: (body: string) => void;

  constructor() {
    super(new IncomingMessage(new Socket()));
    const { promise, resolve } = Promise.withResolvers<string>();
    this.body = promise;
    this.#resolve = resolve;
  }

  override end(chunk?: unknown): this {
    this.#resolve(typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk.toString() : '');
    return this;
  }
}
