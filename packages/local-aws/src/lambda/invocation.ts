import { randomUUID } from 'node:crypto';
import type { FunctionError } from './function-error.ts';
import { ResponseChunks } from './response-chunks.ts';

/** One invocation, from the call to the end of its response. */
export class Invocation {
  readonly requestId = randomUUID();
  /** JSON text, encoded once so that its size is known. */
  readonly event: Buffer;
  /** Its tenant, if the function isolates tenants. */
  readonly tenantId: string | undefined;
  /** The client of the request. */
  readonly client: string | undefined;
  /** The trace header for anything it causes. */
  readonly trace: string | undefined;
  /** Settles when the response begins, or the function fails first. */
  readonly response: Promise<ResponseChunks>;
  readonly #begun = Promise.withResolvers<ResponseChunks>();
  readonly #chunks = new ResponseChunks();

  constructor(
    event: Buffer,
    { tenantId, client, trace }: { tenantId?: string | undefined; client?: string | undefined; trace?: string } = {},
  ) {
    this.event = event;
    this.tenantId = tenantId;
    this.client = client;
    this.trace = trace;
    this.response = this.#begun.promise;
    // Failures reach the caller, who may be gone.
    this.response.catch(() => {});
  }

  /** Resolves when the function has responded in full, or failed. */
  get ended(): Promise<void> {
    return this.#chunks.ended;
  }

  begin(): ResponseChunks {
    this.#begun.resolve(this.#chunks);
    return this.#chunks;
  }

  /** Fails it, after any data already sent. */
  fail(error: FunctionError): void {
    this.#begun.reject(error);
    this.#chunks.end(error);
  }
}
