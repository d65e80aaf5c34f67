import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { TestProject } from 'vitest/node';
import { makeCredentials } from '../../infra/local/gate/credentials.ts';
import { apiKeyItem, newApiKey } from '../../shared/aws/api-keys.ts';
import { newId } from '../../shared/ids.ts';
import { type RunningService, startService } from '../support/running-stack.ts';

/** What the suite judges: any implementation of the spec that answers at this address. */
export interface ContractTarget {
  url: string;
  apiKey: string;
  /** A key of another user. */
  otherKey: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    target: ContractTarget;
  }
}

/** Takes the service that LATHE_CONTRACT_URL, LATHE_CONTRACT_KEY and LATHE_CONTRACT_OTHER_KEY name, or starts one on this machine. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { LATHE_CONTRACT_URL: url, LATHE_CONTRACT_KEY: apiKey, LATHE_CONTRACT_OTHER_KEY: otherKey } = process.env;
  if (url) {
    if (!apiKey || !otherKey)
      throw new Error(
        'LATHE_CONTRACT_URL needs LATHE_CONTRACT_KEY and LATHE_CONTRACT_OTHER_KEY of two users beside it.',
      );
    project.provide('target', { url: url.replace(/\/$/, ''), apiKey, otherKey });
    return undefined;
  }
  const service = await startService({ LATHE_RATE_PER_MINUTE: '1000000', LATHE_IDLE_ENVIRONMENTS: '60' });
  project.provide('target', { url: service.url, apiKey: service.apiKey, otherKey: await addUser(service) });
  return () => service.stop();
}

async function addUser(service: RunningService): Promise<string> {
  const { masterSecret } = JSON.parse(await readFile(join(service.dataDirectory, 'identity.json'), 'utf8'));
  const { stack } = await service.as('functions/api/tasks/show-task.ts');
  const [table] = stack.tables;
  const client = new DynamoDBClient({
    region: stack.region,
    endpoint: `http://127.0.0.1:${new URL(service.url).port}/_aws/dynamodb`,
    credentials: makeCredentials(masterSecret, { logicalId: 'Operator', arn: '', statements: [] }),
  });
  const apiKey = newApiKey();
  await client.send(new PutItemCommand({ TableName: table?.name, Item: apiKeyItem(apiKey, { user: newId() }) }));
  return apiKey;
}
