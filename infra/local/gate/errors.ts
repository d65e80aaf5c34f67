import type { ServerResponse } from 'node:http';
import { S3Error, type S3ErrorCode } from '../aws/s3/error.ts';
import { respondError } from '../aws/s3/request.ts';

export type JsonService = 'dynamodb' | 'sqs' | 'events' | 'execute-api';
export type Service = JsonService | 's3';

export type RefusalReason =
  | 'access-denied'
  | 'missing-authentication'
  | 'malformed-authentication'
  | 'unknown-key'
  | 'invalid-token'
  | 'signature-mismatch'
  | 'time-skewed'
  | 'unsupported'
  | 'invalid-request'
  | 'too-large';

/** A call that the gate refuses; each protocol words it in its own way. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

interface JsonShape {
  status: number;
  type: string;
  /** The code of the older query protocol, by which the SDK of SQS names the exception. */
  queryCode: string;
}

const jsonShapes: Record<RefusalReason, JsonShape> = {
  'access-denied': { status: 400, type: 'AccessDeniedException', queryCode: 'AccessDenied' },
  'missing-authentication': {
    status: 400,
    type: 'MissingAuthenticationTokenException',
    queryCode: 'MissingAuthenticationToken',
  },
  'malformed-authentication': {
    status: 400,
    type: 'IncompleteSignatureException',
    queryCode: 'IncompleteSignature',
  },
  'unknown-key': { status: 400, type: 'UnrecognizedClientException', queryCode: 'InvalidClientTokenId' },
  'invalid-token': { status: 400, type: 'UnrecognizedClientException', queryCode: 'InvalidClientTokenId' },
  'signature-mismatch': { status: 400, type: 'InvalidSignatureException', queryCode: 'SignatureDoesNotMatch' },
  'time-skewed': { status: 400, type: 'InvalidSignatureException', queryCode: 'SignatureDoesNotMatch' },
  unsupported: { status: 400, type: 'UnknownOperationException', queryCode: 'UnsupportedOperation' },
  'invalid-request': { status: 400, type: 'SerializationException', queryCode: 'InvalidParameterValue' },
  'too-large': { status: 413, type: 'RequestEntityTooLargeException', queryCode: 'RequestEntityTooLarge' },
};

const s3Codes: Record<RefusalReason, S3ErrorCode> = {
  'access-denied': 'AccessDenied',
  'missing-authentication': 'AccessDenied',
  'malformed-authentication': 'AuthorizationHeaderMalformed',
  'unknown-key': 'InvalidAccessKeyId',
  'invalid-token': 'InvalidToken',
  'signature-mismatch': 'SignatureDoesNotMatch',
  'time-skewed': 'RequestTimeTooSkewed',
  unsupported: 'NotImplemented',
  'invalid-request': 'InvalidRequest',
  'too-large': 'MaxMessageLengthExceeded',
};

/** Responds with an error the way the service would, unless a response has begun. */
export function respondServiceError(service: Service, error: unknown, res: ServerResponse): void {
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  if (service === 's3') respondError(res, toS3Error(error));
  else respondJsonError(service, error, res);
}

function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof Refusal) return new S3Error(s3Codes[error.reason], error.message);
  return new S3Error('InternalError', 'We encountered an internal error. Please try again.');
}

function respondJsonError(service: JsonService, error: unknown, res: ServerResponse): void {
  const refusal = error instanceof Refusal ? error : undefined;
  const shape = refusal
    ? jsonShapes[refusal.reason]
    : { status: 500, type: 'InternalFailure', queryCode: 'InternalFailure' };
  const message = refusal?.message ?? 'The request processing has failed because of an unknown error.';
  const body = JSON.stringify({ __type: `com.amazon.coral.service#${shape.type}`, message });
  // SQS refuses with 403 where DynamoDB does with 400.
  res.statusCode = service === 'sqs' && refusal?.reason === 'access-denied' ? 403 : shape.status;
  res.setHeader('content-type', 'application/x-amz-json-1.0');
  res.setHeader('content-length', Buffer.byteLength(body));
  if (service === 'sqs') {
    res.setHeader('x-amzn-query-error', `${shape.queryCode};${shape.status < 500 ? 'Sender' : 'Receiver'}`);
  }
  res.end(body);
}
