import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { makeCredentials } from '../../packages/local-aws/src/iam/credentials.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { accountItem } from '../../shared/aws/stores/accounts.ts';
import { describeKey, itemsOfKey, newApiKey } from '../../shared/aws/stores/api-keys.ts';
import { newId } from '../../shared/ids.ts';
import { currentTemplate } from '../build/template-cache.ts';
import { putNew } from '../keys/stored-keys.ts';

/** Adds an account to a running local service, as the operator of its stack, and returns its API key. */
export async function addAccount(url: string, masterSecret: string): Promise<string> {
  const gate = url.replace('localhost', '127.0.0.1');
  const template = await currentTemplate();
  const { region, tables } = readTemplate({ template, origins: { api: url, gate }, parameters: {} });
  const client = new DynamoDBClient({
    region,
    endpoint: `${gate}/_aws/dynamodb`,
    credentials: makeCredentials(masterSecret, { logicalId: 'Operator', arn: '', statements: [] }),
  });
  const [user, apiKey, createdAt] = [newId(), newApiKey(), new Date().toISOString()];
  const name = 'Second account';
  const { listed, effective } = itemsOfKey(
    describeKey(apiKey, { user, name, createdAt, createdBy: { type: 'operator' } }),
  );
  const account = accountItem({ id: user, kind: 'personal', name, createdAt });
  for (const item of [account, listed, effective]) await putNew(client, tables[0]?.name ?? '', item);
  return apiKey;
}
