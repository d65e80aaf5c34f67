import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GoneException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';

// The endpoint is the variable AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI, which the stack sets to the stage's own.
const client = new ApiGatewayManagementApiClient({
  // All who follow a job wait while one of them is told: a client that cannot be reached soon is cut off instead.
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000 },
});

/** Sends a text to a connection, or says that the connection is gone. */
export async function post(connection: string, text: string): Promise<'sent' | 'gone'> {
  try {
    await client.send(new PostToConnectionCommand({ ConnectionId: connection, Data: Buffer.from(text) }));
    return 'sent';
  } catch (error) {
    if (error instanceof GoneException) return 'gone';
    throw error;
  }
}

/** Ends a connection. */
export async function hangUp(connection: string): Promise<void> {
  try {
    await client.send(new DeleteConnectionCommand({ ConnectionId: connection }));
  } catch (error) {
    if (!(error instanceof GoneException)) throw error;
  }
}
