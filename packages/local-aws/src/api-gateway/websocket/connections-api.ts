import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequiredAction } from '../../iam/refusal.ts';
import { Refusal } from '../../iam/refusal.ts';
import type { LocalStack } from '../../template/model.ts';

/** The connections that the management endpoint acts on. */
export interface ManagedConnections {
  post(connectionId: string, data: Buffer): 'sent' | 'full' | 'gone';
  disconnect(connectionId: string): boolean;
  connectionIds(): string[];
  limits: { messageBytes: number };
}

/** Handles a call to the management endpoint of a WebSocket API: `/{stage}/@connections/{connectionId}`. */
export function manageConnection(
  stack: LocalStack,
  sockets: ManagedConnections | undefined,
  req: IncomingMessage,
  res: ServerResponse,
  call: { path: string; body: Buffer },
  authorise: (need: RequiredAction) => void,
): void {
  const [, stage = '', marker, encodedId = '', ...rest] = call.path.split('/');
  const api = stack.webSocketApis.find((candidate) => candidate.stage === stage);
  if (!api || marker !== '@connections' || rest.length > 0)
    throw new Refusal('unsupported', 'The request does not name a connection.');
  const id = decodeURIComponent(encodedId);
  const method = req.method ?? 'GET';
  authorise({
    action: 'execute-api:ManageConnections',
    resource: `arn:aws:execute-api:${stack.region}:${stack.account}:${api.apiId}/${stage}/${method}/@connections/${id}`,
  });
  if (!sockets) throw new Error('The WebSocket API is not up yet.');
  if (call.body.length > sockets.limits.messageBytes) respond(res, 413, 'PayloadTooLargeException');
  else if (method === 'POST') respondPost(res, sockets.post(id, call.body));
  else if (method === 'DELETE' && sockets.disconnect(id)) respond(res, 204);
  else if (method === 'DELETE') respond(res, 410, 'GoneException');
  else throw new Refusal('unsupported', `${method} of a connection is not supported here.`);
}

function respondPost(res: ServerResponse, outcome: ReturnType<ManagedConnections['post']>): void {
  if (outcome === 'sent') respond(res, 200);
  else if (outcome === 'full') respond(res, 429, 'LimitExceededException');
  else respond(res, 410, 'GoneException');
}

function respond(res: ServerResponse, status: number, errorType?: string): void {
  res.statusCode = status;
  if (errorType) {
    res.setHeader('x-amzn-errortype', errorType);
    res.setHeader('content-type', 'application/json');
  }
  res.end(errorType ? JSON.stringify({ message: errorType }) : undefined);
}
