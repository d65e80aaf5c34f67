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

/**
 * Returns events that a function can respond to without records: a request with a key, the first messages of a
 * Socket.IO client, or no messages.
 */
export function firstEvents(entry: string): object[] {
  if (entry.startsWith('functions/api/')) return [requestTo(entry)];
  if (entry === socketEntry) return fromSocket;
  return entry === relayEntry ? [opened] : [{ Records: [] }];
}

export const socketEntry = 'functions/events/websocket/socket.ts';
export const relayEntry = 'functions/events/relay/relay.ts';

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

const requestContext = { connectionId: 'connection', requestId: 'request' };
const fromSocket = [
  { requestContext: { ...requestContext, routeKey: '$connect' }, queryStringParameters: { EIO: '4' } },
  { requestContext: { ...requestContext, routeKey: '$default' }, body: '40{"token":"Bearer key"}' },
];
const opened = {
  Records: [
    {
      messageId: 'message',
      body: JSON.stringify({ type: 'opened', connection: 'connection' }),
      attributes: { MessageGroupId: 'connection' },
    },
  ],
};
