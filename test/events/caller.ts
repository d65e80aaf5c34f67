import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCredentials } from '../../infra/local/gate/credentials.ts';
import { Client } from '../support/client.ts';
import { addUser as addUserTo, type Caller, functionOf } from '../support/running-stack.ts';
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
      userAgentAppId: 'tests',
    }),
  };
}

/** Adds a user of whom nothing is known yet, so that a test may run beside others. */
export async function addUser(stack: TestStack): Promise<{ apiKey: string; client: Client }> {
  const apiKey = await addUserTo(stack);
  return { apiKey, client: new Client({ url: stack.url, apiKey }) };
}
