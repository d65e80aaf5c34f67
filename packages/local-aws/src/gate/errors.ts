import type { ServerResponse } from 'node:http';
import { type JsonService, Refusal, type RefusalReason, type Service } from '../iam/refusal.ts';
import { S3Error, type S3ErrorCode } from '../s3/error.ts';
import { respondError } from '../s3/request.ts';
import { TransientError } from './transient-errors.ts';

/** Names of a refusal by protocol: JSON services, the query protocol of SQS, and S3. */
const codes: Record<RefusalReason, { json: string; query: string; s3: S3ErrorCode }> = {
  'access-denied': { json: 'AccessDeniedException', query: 'AccessDenied', s3: 'AccessDenied' },
  'missing-authentication': {
    json: 'MissingAuthenticationTokenException',
    query: 'MissingAuthenticationToken',
    s3: 'AccessDenied',
  },
  'malformed-authentication': {
    json: 'IncompleteSignatureException',
    query: 'IncompleteSignature',
    s3: 'AuthorizationHeaderMalformed',
  },
  'unknown-key': { json: 'UnrecognizedClientException', query: 'InvalidClientTokenId', s3: 'InvalidAccessKeyId' },
  'invalid-token': { json: 'UnrecognizedClientException', query: 'InvalidClientTokenId', s3: 'InvalidToken' },
  'expired-token': { json: 'ExpiredTokenException', query: 'ExpiredToken', s3: 'ExpiredToken' },
  'signature-mismatch': {
    json: 'InvalidSignatureException',
    query: 'SignatureDoesNotMatch',
    s3: 'SignatureDoesNotMatch',
  },
  'time-skewed': { json: 'InvalidSignatureException', query: 'SignatureDoesNotMatch', s3: 'RequestTimeTooSkewed' },
  unsupported: { json: 'UnknownOperationException', query: 'UnsupportedOperation', s3: 'NotImplemented' },
  'invalid-request': { json: 'SerializationException', query: 'InvalidParameterValue', s3: 'InvalidRequest' },
  'too-large': {
    json: 'RequestEntityTooLargeException',
    query: 'RequestEntityTooLarge',
    s3: 'MaxMessageLengthExceeded',
  },
};

/** Responds with an error in the format of the service, unless a response has begun. */
export function respondServiceError(service: Service, error: unknown, res: ServerResponse): void {
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  if (error instanceof TransientError) error.respond(res);
  else if (service === 's3') respondError(res, toS3Error(error));
  else if (service === 'sts') respondQueryError(error, res);
  else respondJsonError(service, error, res);
}

function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof Refusal) return new S3Error(codes[error.reason].s3, error.message);
  return new S3Error('InternalError', 'We encountered an internal error. Please try again.');
}

function respondQueryError(error: unknown, res: ServerResponse): void {
  const refusal = error instanceof Refusal ? error : undefined;
  const code = refusal ? codes[refusal.reason].query : 'InternalFailure';
  const message = refusal?.message ?? 'The request processing has failed because of an unknown error.';
  res.writeHead(refusal ? (refusal.reason === 'invalid-request' ? 400 : 403) : 500, { 'content-type': 'text/xml' });
  res.end(
    `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>${refusal ? 'Sender' : 'Receiver'}</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  );
}

function respondJsonError(service: JsonService, error: unknown, res: ServerResponse): void {
  const refusal = error instanceof Refusal ? error : undefined;
  const { json, query } = refusal ? codes[refusal.reason] : { json: 'InternalFailure', query: 'InternalFailure' };
  const message = refusal?.message ?? 'The request processing has failed because of an unknown error.';
  const body = JSON.stringify({ __type: `com.amazon.coral.service#${json}`, message });
  res.statusCode = statusOf(service, refusal?.reason);
  res.setHeader('content-type', 'application/x-amz-json-1.0');
  res.setHeader('content-length', Buffer.byteLength(body));
  if (service === 'sqs') res.setHeader('x-amzn-query-error', `${query};${refusal ? 'Sender' : 'Receiver'}`);
  res.end(body);
}

function statusOf(service: JsonService, reason: RefusalReason | undefined): number {
  if (reason === undefined) return 500;
  // SQS, Lambda and Batch refuse with 403, DynamoDB with 400.
  if ((service === 'sqs' || service === 'lambda' || service === 'batch') && reason === 'access-denied') return 403;
  return reason === 'too-large' ? 413 : 400;
}
