import { Client } from '../support/client.ts';
import { addUser as addUserTo } from '../support/running-stack.ts';
import type { TestStack } from './stack.ts';

/** Adds a user of whom nothing is known yet, so that a test may run beside others. */
export async function addUser(stack: TestStack): Promise<{ apiKey: string; client: Client }> {
  const apiKey = await addUserTo(stack);
  return { apiKey, client: new Client({ url: stack.url, apiKey }) };
}
