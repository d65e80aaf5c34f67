import type { APIGatewayProxyResultV2 } from 'aws-lambda';
import { acceptConnection, type ConnectEvent } from './connect.ts';
import { removeConnection } from './connections.ts';
import { handleMessage } from './message.ts';

/**
 * Handles connects, messages and disconnects. One function for all of them, since clients of Socket.IO wait for the response to
 * their first message, some for a second only: it comes from the environment that the connect has started.
 */
export async function handler(event: ConnectEvent): Promise<APIGatewayProxyResultV2> {
  const { routeKey, connectionId } = event.requestContext;
  if (routeKey === '$connect') return acceptConnection(event);
  if (routeKey === '$disconnect') await removeConnection(connectionId);
  else await handleMessage(event);
  return { statusCode: 200 };
}
