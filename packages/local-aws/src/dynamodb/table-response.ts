import type { ServerResponse } from 'node:http';

/** A response to a request of a table. */
export interface TableResponse {
  status: number;
  body: object;
}

/** Sends the response to a request of a table. */
export function respond(res: ServerResponse, status: number, body: string): void {
  res.statusCode = status;
  res.setHeader('content-type', 'application/x-amz-json-1.0');
  res.setHeader('content-length', Buffer.byteLength(body));
  res.end(body);
}

/** Returns the response that names an exception of DynamoDB. */
export function exception(type: string, message: string): TableResponse {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message } };
}

/** Returns the response to a transaction that was canceled, with a code for each of its items. */
export function cancellation(codes: string[]): TableResponse {
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`;
  const { status, body } = exception('TransactionCanceledException', message);
  return { status, body: { ...body, CancellationReasons: codes.map((Code) => ({ Code })) } };
}
