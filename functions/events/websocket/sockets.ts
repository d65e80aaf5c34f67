import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GoneException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import { atMost } from '../../../shared/concurrency.ts';

/** The connection limit of an SDK client. */
const maxConnections = 50;

// The stack sets the endpoint in AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI.
const client = new ApiGatewayManagementApiClient({
  // All subscribers of a job wait for each other, so a client that cannot be reached in time is disconnected.
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
});
/** Without it, a request waiting for a connection could time out, and its subscriber would be disconnected. */
const inTurn = atMost(maxConnections);

/** Sends a text to a connection; returns `gone` if the connection is closed. */
export async function post(connection: string, text: string): Promise<'sent' | 'gone'> {
  try {
    await inTurn(() => client.send(new PostToConnectionCommand({ ConnectionId: connection, Data: Buffer.from(text) })));
    return 'sent';
  } catch (error) {
    if (error instanceof GoneException) return 'gone';
    throw error;
  }
}

/** Closes a connection. */
export async function disconnect(connection: string): Promise<void> {
  try {
    await inTurn(() => client.send(new DeleteConnectionCommand({ ConnectionId: connection })));
  } catch (error) {
    if (!(error instanceof GoneException)) throw error;
  }
}
