import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateTableCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { apiKeyItem } from '../../shared/aws/api-keys.ts';
import { newId } from '../../shared/ids.ts';
import { compileCache } from '../support/compile-cache.ts';

const run = promisify(execFile);
const credentials = { accessKeyId: 'KEY', secretAccessKey: 'SECRET' };

/** Starts a DynamoDB with tables of these names, as CloudFormation makes them. */
async function startTables(...names: string[]) {
  const path = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  const server = dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const client = new DynamoDBClient({ endpoint: url, region: 'us-east-1', credentials });
  for (const TableName of names)
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    );
  return {
    userOf: async (TableName: string, apiKey: string) => {
      const { pk = { S: '' }, sk = { S: '' } } = apiKeyItem(apiKey, { user: '' });
      const { Item } = await client.send(new GetItemCommand({ TableName, Key: { pk, sk } }));
      return Item?.user?.S;
    },
    makeKey: (...options: string[]) =>
      run(process.execPath, [join(projectRoot, 'infra/keys/make-key.ts'), ...options], {
        env: {
          ...compileCache,
          AWS_REGION: 'us-east-1',
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
          AWS_ENDPOINT_URL_DYNAMODB: url,
        },
      }),
    async [Symbol.asyncDispose]() {
      client.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(path, { recursive: true, force: true });
    },
  };
}

test('a key is made, and revoked, in the table of the stack that is named, and of no other stage', async () => {
  const [plain, prod] = ['Lathe-RecordsTableA1-X1', 'Lathe-prod-RecordsTableA1-X2'];
  await using tables = await startTables('Another', prod, plain);
  const user = newId();

  const { stdout: first } = await tables.makeKey();
  const { stdout: second } = await tables.makeKey('--stack', 'Lathe-prod', '--user', user);

  const keyIn = (text: string) => /^API key {2}(lathe_\S+)$/m.exec(text)?.[1] ?? '';
  expect(first).toContain(`User     ${await tables.userOf(plain, keyIn(first))}\n`);
  expect(await tables.userOf(prod, keyIn(first))).toBeUndefined();
  expect(await tables.userOf(prod, keyIn(second))).toBe(user);
  await tables.makeKey('--stack', 'Lathe-prod', '--revoke', keyIn(second));
  expect(await tables.userOf(prod, keyIn(second))).toBeUndefined();
  await expect(tables.makeKey('--revoke', keyIn(second))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The table ${plain} has no such key.`),
  });
  await expect(tables.makeKey('--stack', 'Lathe-test')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no table of a stack Lathe-test in this account and region.'),
  });
});

test('whoever has no credentials is told so', async () => {
  const refused = run(process.execPath, [join(projectRoot, 'infra/keys/make-key.ts')], {
    env: { ...compileCache, AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' },
  });
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Set AWS_PROFILE') });
});
