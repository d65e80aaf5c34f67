import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { makeCredentials } from '../../infra/local/gate/credentials.ts';
import { apiKeyItem, newApiKey } from '../../shared/aws/api-keys.ts';
import { newId } from '../../shared/ids.ts';
import { Client } from '../support/client.ts';
import { type Caller, functionOf } from '../support/running-stack.ts';
import type { TestStack } from './stack.ts';

/** Acts with the role of the function that runs the module, through the gate like the function itself. */
export async function callerOf({ stack, url, dataDirectory }: TestStack, entry: string): Promise<Caller> {
  const gate = `http://127.0.0.1:${new URL(url).port}`;
  const fn = functionOf(stack, entry);
  const { masterSecret } = JSON.parse(await readFile(join(dataDirectory, 'identity.json'), 'utf8'));
  const credentials = makeCredentials(masterSecret, fn.role);
  return {
    fn,
    stack,
    client: (service) => ({
      region: stack.region,
      endpoint: `${gate}/_aws/${service}`,
      forcePathStyle: true,
      credentials,
    }),
  };
}

/** Adds a user of whom nothing is known yet, so that a test may run beside others. */
export async function addUser(stack: TestStack): Promise<{ apiKey: string; client: Client }> {
  const apiKey = newApiKey();
  const { client, fn } = await callerOf(stack, 'functions/api/jobs/create-job.ts');
  const Item = apiKeyItem(apiKey, { user: newId() });
  await new DynamoDBClient(client('dynamodb')).send(
    new PutItemCommand({ TableName: fn.environment.LATHE_TABLE, Item }),
  );
  return { apiKey, client: new Client({ url: stack.url, apiKey }) };
}
