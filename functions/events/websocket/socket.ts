import type { APIGatewayProxyResultV2, APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import { sendEvents } from '../../../shared/aws/events.ts';
import { addConnectedSubscriber } from '../../../shared/aws/stores/account-subscribers.ts';
import { holderOf } from '../../../shared/aws/stores/tokens.ts';
import { removeConnection, storeConnection } from './connections.ts';
import { handleMessage } from './message.ts';

/** The request that opened the connection: Lambda's types omit its headers and query. */
type ConnectEvent = APIGatewayProxyWebsocketEventV2 & {
  headers?: Record<string, string | undefined>;
  queryStringParameters?: Record<string, string | undefined> | null;
};

/**
 * Handles connects, messages and disconnects. One function handles all, because Socket.IO clients wait for the response to
 * their first message, some only for a second, and the connect has already started an environment.
 */
export async function handler(event: ConnectEvent): Promise<APIGatewayProxyResultV2> {
  const { routeKey, connectionId } = event.requestContext;
  if (routeKey === '$connect') return acceptConnection(event);
  if (routeKey === '$disconnect') await removeConnection(connectionId);
  else await handleMessage(event);
  return { statusCode: 200 };
}

/**
 * Accepts or rejects a connection with its response status. Socket.IO clients authenticate in their first packet, others in
 * the request.
 */
async function acceptConnection(event: ConnectEvent): Promise<{ statusCode: number }> {
  const { connectionId: id } = event.requestContext;
  const query = event.queryStringParameters ?? {};
  const origin = headerOf(event.headers ?? {}, 'origin');
  if (query.EIO !== undefined) {
    if (query.EIO !== '4') return { statusCode: 400 };
    await storeConnection({ id, dialect: 'socket.io', ...(origin === undefined ? {} : { origin }), channels: {} });
    // The client waits for a first packet, which cannot be sent until this function returns.
    await sendEvents([{ type: 'opened', connection: id }]);
    return { statusCode: 200 };
  }
  const credential = headerOf(event.headers ?? {}, 'authorization') ?? query.token;
  const identity = credential === undefined ? undefined : await holderOf(credential, origin);
  if (!identity) return { statusCode: 401 };
  const subscribedSince = await addConnectedSubscriber(identity.user);
  await storeConnection({ id, dialect: 'plain', identity, subscribedSince, channels: {} });
  return { statusCode: 200 };
}

// WebSocket APIs keep the client's spelling of header names.
function headerOf(headers: Record<string, string | undefined>, name: string): string | undefined {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}
