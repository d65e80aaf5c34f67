import type { APIGatewayProxyResultV2, APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import { removeConnection } from './connections.ts';

/** Removes a connection that was closed. */
export async function handler(event: APIGatewayProxyWebsocketEventV2): Promise<APIGatewayProxyResultV2> {
  await removeConnection(event.requestContext.connectionId);
  return { statusCode: 200 };
}
