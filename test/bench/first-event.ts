import { routes } from '../../functions/api/routes.ts';

const parameters = {
  taskId: '65a000000000000000000000',
  jobId: '65a000000000000000000000',
  webhookId: '65a000000000000000000000',
  deliveryId: '65a000000000000000000000',
  operation: 'convert',
  token: 'token',
  name: 'name',
};

/** Makes an event that a function responds to without any record to be there: a request with a key, a connection, or no messages. */
export function firstEvent(entry: string): object {
  if (entry.startsWith('functions/api/')) return requestTo(entry);
  if (entry.startsWith('functions/events/websocket/')) return fromSocket;
  return { Records: [] };
}

function requestTo(entry: string): object {
  const module = entry.replace('functions/api/', '').replace('.ts', '');
  const route = Object.values(routes).find((row) => row.module === module);
  const method = route?.method ?? 'GET';
  return {
    version: '2.0',
    headers: { accept: 'application/json', authorization: 'Bearer key', 'content-type': 'application/json' },
    requestContext: { requestId: 'request', http: { method, path: route?.path ?? '/' } },
    pathParameters: parameters,
    isBase64Encoded: false,
    ...(method === 'POST' ? { body: '{"input_format":"png"}' } : {}),
  };
}

const fromSocket = {
  requestContext: { connectionId: 'connection', routeKey: '$default', requestId: 'request' },
  headers: { authorization: 'Bearer key' },
  body: '{}',
};
