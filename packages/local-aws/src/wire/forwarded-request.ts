import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

interface Original {
  method?: string | undefined;
  socket: Socket;
}

/**
 * A request for an embedded server. Without a body, the caller emits it, so that errors thrown by the server reach the
 * caller.
 */
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

  // Keeps the client's socket, which the base class would destroy with the request.
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
  }
}

/** A response that captures what an embedded server writes instead of sending it. */
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
