import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

interface Original {
  method?: string | undefined;
  socket: Socket;
}

/** A request for an embedded server: another path, other headers, and a body that need not come from the socket. */
export class ForwardedRequest extends IncomingMessage {
  readonly #body: Readable | undefined;

  constructor(original: Original, url: string, headers: IncomingMessage['headers'], body?: Readable | Buffer) {
    super(original.socket);
    this.method = original.method ?? 'GET';
    this.url = url;
    this.headers = headers;
    this.httpVersion = '1.1';
    // An aborted upload is an answer to nobody, not a reason to end the process.
    this.on('error', () => undefined);
    if (body === undefined || Buffer.isBuffer(body)) {
      if (body && body.length > 0) this.push(body);
      this.#finish();
      return;
    }
    this.#body = body;
    body.pause();
    body.on('data', (chunk) => {
      if (!this.push(chunk)) body.pause();
    });
    body.on('end', () => this.#finish());
    body.on('error', (error) => this.destroy(error));
    body.on('close', () => {
      if (!body.readableEnded) this.destroy(body.errored ?? new Error('The request body ended early'));
    });
  }

  #finish(): void {
    this.complete = true;
    this.push(null);
  }

  override _read(): void {
    this.#body?.resume();
  }

  // The socket stays the client's: the base class would destroy it with the request.
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#body?.destroy(error ?? undefined);
    done(error);
  }
}

/** A request for an embedded server whose body the caller emits itself, so that what the server throws reaches it. */
export class EmittedRequest extends IncomingMessage {
  constructor(original: Original, url: string, headers: IncomingMessage['headers']) {
    super(original.socket);
    this.method = original.method ?? 'POST';
    this.url = url;
    this.headers = headers;
  }

  override _read(): void {
    // Nothing to pull: the body comes by emit.
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
  }
}

/** A response that keeps what an embedded server answers instead of sending it. */
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
