import { randomUUID } from 'node:crypto';
import type { FunctionError } from './function-error.ts';
import { ResponseChunks } from './response-chunks.ts';

/** One invocation, from the call to the end of its response. */
export class Invocation {
  readonly requestId = randomUUID();
  /** JSON text, so that it is encoded once and measured where it is encoded. */
  readonly event: string;
  /** The tenant it is for, if its function keeps tenants apart. */
  readonly tenantId: string | undefined;
  /** Whose request it is. */
  readonly client: string | undefined;
  /** The trace header that it passes on to what it causes. */
  readonly trace: string | undefined;
  /** Settles when the response begins, or the function fails before that. */
  readonly response: Promise<ResponseChunks>;
  readonly #begun = Promise.withResolvers<ResponseChunks>();
  readonly #chunks = new ResponseChunks();

  constructor(
    event: string,
    { tenantId, client, trace }: { tenantId?: string | undefined; client?: string | undefined; trace?: string } = {},
  ) {
    this.event = event;
    this.tenantId = tenantId;
    this.client = client;
    this.trace = trace;
    this.response = this.#begun.promise;
    // Whoever waits for it learns of a failure; there may be nobody any more.
    this.response.catch(() => {});
  }

  /** Resolves when the function has responded in full, or failed. */
  get ended(): Promise<void> {
    return this.#chunks.ended;
  }

  /** Begins the response. */
  begin(): ResponseChunks {
    this.#begun.resolve(this.#chunks);
    return this.#chunks;
  }

  /** Ends it as failed, after whatever of the response has come. */
  fail(error: FunctionError): void {
    this.#begun.reject(error);
    this.#chunks.end(error);
  }
}
