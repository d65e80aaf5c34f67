import type { APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import { addConnectedSubscriber } from '../../../shared/aws/account-subscribers.ts';
import { sendEvents } from '../../../shared/aws/events.ts';
import { holderOf } from '../../../shared/aws/tokens.ts';
import { storeConnection } from './connections.ts';

/** The request that opened the connection: Lambda's types omit its headers and query. */
export type ConnectEvent = APIGatewayProxyWebsocketEventV2 & {
  headers?: Record<string, string | undefined>;
  queryStringParameters?: Record<string, string | undefined> | null;
};

/**
 * Accepts a connection, or refuses it by the status that it returns. A client of Socket.IO authenticates in its first packet,
 * any other in the request itself.
 */
export async function acceptConnection(event: ConnectEvent): Promise<{ statusCode: number }> {
  const { connectionId: id } = event.requestContext;
  const query = event.queryStringParameters ?? {};
  const origin = headerOf(event.headers ?? {}, 'origin');
  if (query.EIO !== undefined) {
    if (query.EIO !== '4') return { statusCode: 400 };
    await storeConnection({ id, dialect: 'socket.io', ...(origin === undefined ? {} : { origin }), channels: {} });
    // Nothing can be sent before this function has returned, and the client waits for the server's first packet.
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

// WebSocket APIs pass headers on as the client spelled them.
function headerOf(headers: Record<string, string | undefined>, name: string): string | undefined {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}
