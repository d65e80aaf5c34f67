import type { ServerResponse } from 'node:http';

export interface TableResponse {
  status: number;
  body: object;
}

/** Sends a table response. */
export function respond(res: ServerResponse, status: number, body: string): void {
  res.statusCode = status;
  res.setHeader('content-type', 'application/x-amz-json-1.0');
  res.setHeader('content-length', Buffer.byteLength(body));
  res.end(body);
}

/** Returns the response for a DynamoDB exception. */
export function exception(type: string, message: string): TableResponse {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message } };
}

/** Returns the response to a canceled transaction, with a code for each item. */
export function cancellation(codes: string[]): TableResponse {
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`;
  const { status, body } = exception('TransactionCanceledException', message);
  return { status, body: { ...body, CancellationReasons: codes.map((Code) => ({ Code })) } };
}
