import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateTableCommand, DynamoDBClient, GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { hashOfKey } from '../../shared/aws/stores/api-keys.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { newId } from '../../shared/ids.ts';
import { compileCache } from '../support/compile-cache.ts';

const run = promisify(execFile);
const credentials = { accessKeyId: 'KEY', secretAccessKey: 'SECRET' };

/** Starts a DynamoDB with tables of these names, as created by CloudFormation. */
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
      const Key = { pk: { S: `${partitions.apiKey}${hashOfKey(apiKey)}` }, sk: { S: 'key' } };
      const { Item } = await client.send(new GetItemCommand({ TableName, Key }));
      return Item?.user?.S;
    },
    itemsOf: async (TableName: string, pk: string) => {
      const request = {
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: pk } },
      };
      return (await client.send(new QueryCommand(request))).Items ?? [];
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

test('a key is created and revoked in the table of the named stack, and of no other stage', async () => {
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

test('a key with rights is stored as the API stores one, listed, and revoked by its id, all of it in the audit log', async () => {
  const table = 'Lathe-RecordsTableA1-X1';
  await using tables = await startTables(table);
  const user = newId();
  const rights = [
    '--scopes',
    'read,process',
    '--expires',
    '90d',
    '--formats',
    'JPEG,png',
    '--requests-per-minute',
    '5',
  ];
  const { stdout: made } = await tables.makeKey('--user', user, '--name', 'Nightly', ...rights);
  const id = /^Key id {3}(\w{24})$/m.exec(made)?.[1] ?? '';
  const apiKey = /^API key {2}(lathe_\S+)$/m.exec(made)?.[1] ?? '';

  const [listed] = await tables.itemsOf(table, `${partitions.accountKey}${user}`);
  expect(listed).toMatchObject({
    sk: { S: id },
    hash: { S: hashOfKey(apiKey) },
    start: { S: apiKey.slice(0, 12) },
    name: { S: 'Nightly' },
    scopes: { L: [{ S: 'read' }, { S: 'process' }] },
    limits: { M: { formats: { L: [{ S: 'jpg' }, { S: 'png' }] }, requestsPerMinute: { N: '5' } } },
    createdBy: { M: { type: { S: 'operator' } } },
    expiresAt: { S: expect.stringMatching(/^\d{4}-/) },
  });
  const account = { sk: { S: 'account' }, kind: { S: 'personal' } };
  expect(await tables.itemsOf(table, `${partitions.account}${user}`)).toMatchObject([account]);
  const { stdout: list } = await tables.makeKey('--list', '--user', user);
  expect(list).toMatch(new RegExp(`^${id}  ${apiKey.slice(0, 12)}…  read,process .* expires .*  Nightly$`, 'm'));
  expect(list).not.toContain(apiKey);

  await tables.makeKey('--revoke', id, '--user', user);
  expect(await tables.userOf(table, apiKey)).toBeUndefined();
  expect(await tables.itemsOf(table, `${partitions.accountKey}${user}`)).toEqual([]);
  expect(await tables.itemsOf(table, `${partitions.audit}${user}`)).toMatchObject(
    ['key.created', 'key.deleted'].map((action) => ({
      action: { S: action },
      subject: { S: id },
      actor: { M: { type: { S: 'operator' } } },
    })),
  );
});

test.each([
  [['--scopes', 'read,write'], 'Expected names among read, process, account for --scopes but received write.'],
  [['--expires', 'yesterday'], 'Expected a future time for --expires but received yesterday.'],
  [['--max-file-bytes', '1.5'], 'Expected a number of at least 1 for --max-file-bytes but received 1.5.'],
  [['--origins', 'example.com'], 'Expected origins such as https://example.com but received example.com.'],
  [['--list'], 'Expected the id of an account.'],
  [['--revoke', 'a'.repeat(24)], 'Expected --user, the account of the key to revoke.'],
])('%j is refused before anything is written', async (options, message) => {
  await using tables = await startTables('Lathe-RecordsTableA1-X1');
  await expect(tables.makeKey(...options)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});

test('explains missing credentials', async () => {
  const refused = run(process.execPath, [join(projectRoot, 'infra/keys/make-key.ts')], {
    env: { ...compileCache, AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' },
  });
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Set AWS_PROFILE') });
});

test('The operator sets the conversion minutes of an account that exists', async () => {
  await using tables = await startTables('Lathe-RecordsTable-1');
  const { stdout } = await tables.makeKey();
  const user = /^User +(\S+)$/m.exec(stdout)?.[1] ?? '';

  expect((await tables.makeKey('--allow', '90.5', '--user', user)).stdout).toContain('90.5 conversion minutes a month');
  const [account] = await tables.itemsOf('Lathe-RecordsTable-1', `${partitions.account}${user}`);
  expect(account?.minutesPerMonth?.N).toBe('90.5');
  await expect(tables.makeKey('--allow', '1', '--user', newId())).rejects.toMatchObject({
    stderr: expect.stringContaining('has no account'),
  });
  await expect(tables.makeKey('--allow', 'many', '--user', user)).rejects.toMatchObject({
    stderr: expect.stringContaining('Expected a number of at least 0 for --allow'),
  });
});
