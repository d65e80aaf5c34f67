export type JsonService = 'dynamodb' | 'sqs' | 'events' | 'execute-api' | 'lambda' | 'batch';
export type Service = JsonService | 's3' | 'sts';

export type RefusalReason =
  | 'access-denied'
  | 'missing-authentication'
  | 'malformed-authentication'
  | 'unknown-key'
  | 'invalid-token'
  | 'expired-token'
  | 'signature-mismatch'
  | 'time-skewed'
  | 'unsupported'
  | 'invalid-request'
  | 'too-large';

/** A call that the gate refuses; each protocol formats it differently. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A permission that a call needs, with the values for conditions. */
export interface RequiredAction {
  action: string;
  resource: string;
  conditions?: Record<string, () => string[] | undefined>;
}

/** Reads the operation from the target header, such as `DynamoDB_20120810.GetItem`. */
export function operationOf(service: JsonService, target: string | string[] | undefined): string {
  const prefix = {
    dynamodb: 'DynamoDB_20120810.',
    sqs: 'AmazonSQS.',
    events: 'AWSEvents.',
    'execute-api': '?',
    lambda: '?',
    batch: '?',
  }[service];
  if (typeof target !== 'string' || !target.startsWith(prefix)) {
    throw new Refusal('unsupported', 'The request does not name an operation of this service.');
  }
  return target.slice(prefix.length);
}
