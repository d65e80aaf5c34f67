import type { ServerResponse } from 'node:http';
import type { Random } from '../faults/random.ts';
import { S3Error } from '../s3/error.ts';

/** Low enough that an SDK, with three attempts, hardly ever gives up. */
const defaultRate = 0.005;

export type FailingService = 'dynamodb' | 'sqs' | 's3';

const writes = /^(PutItem|UpdateItem|DeleteItem|BatchWriteItem)$/;

/**
 * Decides which correct calls fail.
 * Imitates: "InternalServerError (HTTP 500): DynamoDB could not process your request" (DynamoDB developer guide, "Error
 * handling", next to 503), "503 Slow Down: reduce your request rate" and "500 InternalError: please try again" (S3 API
 * reference, "Error responses"), "InternalFailure" and "ServiceUnavailable" (SQS API reference, "Common errors"). SDKs
 * repeat all of them.
 */
export class TransientErrors {
  readonly #random: Random;
  readonly #rate: number;

  constructor(random: Random, rate = defaultRate) {
    this.#random = random;
    this.#rate = rate;
  }

  /** Returns whether the next call fails. */
  next(): boolean {
    return this.#random.chance(this.#rate);
  }

  /**
   * Returns whether the response of a call is lost after its effect; only table writes are affected.
   * Imitates: "For write requests, the write operation may have succeeded" of an InternalServerError (DynamoDB
   * developer guide, "Error handling"); a reset connection looks the same. The SDK repeats the write, and its condition
   * then fails because of the first.
   */
  losesResponse(service: FailingService, operation: string): boolean {
    return service === 'dynamodb' && writes.test(operation) && this.#random.chance(this.#rate);
  }

  /** Returns the error of a call that fails. */
  error(service: FailingService): TransientError | S3Error {
    const isBusy = this.#random.chance(0.5);
    if (service === 's3')
      return isBusy
        ? new S3Error('SlowDown', 'Please reduce your request rate.')
        : new S3Error('InternalError', 'We encountered an internal error. Please try again.');
    return new TransientError(service, isBusy ? 503 : 500);
  }
}

const types = {
  dynamodb: {
    500: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
    503: 'com.amazon.coral.service#ServiceUnavailableException',
  },
  sqs: { 500: 'com.amazon.coral.service#InternalFailure', 503: 'com.amazon.coral.service#ServiceUnavailable' },
};

/** A server error of a service that speaks JSON. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
  readonly #service: 'dynamodb' | 'sqs';
  readonly #status: 500 | 503;

  constructor(service: 'dynamodb' | 'sqs', status: 500 | 503) {
    super(status === 500 ? 'Internal server error' : 'The service is unavailable. Please try again shortly.');
    this.#service = service;
    this.#status = status;
  }

  /** Sends the error. */
  respond(res: ServerResponse): void {
    const type = types[this.#service][this.#status];
    const body = JSON.stringify({ __type: type, message: this.message });
    res.statusCode = this.#status;
    res.setHeader('content-type', 'application/x-amz-json-1.0');
    res.setHeader('content-length', Buffer.byteLength(body));
    if (this.#service === 'sqs') res.setHeader('x-amzn-query-error', `${type.split('#').at(-1)};Receiver`);
    res.end(body);
  }
}
