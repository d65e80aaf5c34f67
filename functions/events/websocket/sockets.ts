import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GoneException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import { atMost } from '../../../shared/concurrency.ts';

/** Connections that a client of the SDK has. */
const maxConnections = 50;

// The endpoint is the variable AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI, which the stack sets to the stage's own.
const client = new ApiGatewayManagementApiClient({
  // All subscribers of a job wait while one of them is sent an event: a client that cannot be reached soon is disconnected.
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
});
/** A request that waits for one of them counts as one that cannot be made, and its subscriber would be disconnected. */
const inTurn = atMost(maxConnections);

/** Sends a text to a connection; returns `gone` where the connection is closed. */
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
