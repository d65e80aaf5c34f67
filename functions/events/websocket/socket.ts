import type { APIGatewayProxyResultV2 } from 'aws-lambda';
import { acceptConnection, type ConnectEvent } from './connect.ts';
import { removeConnection } from './connections.ts';
import { handleMessage } from './message.ts';

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
