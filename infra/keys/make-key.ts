import { parseArgs } from 'node:util';
import { DeleteItemCommand, DynamoDBClient, PutItemCommand, paginateListTables } from '@aws-sdk/client-dynamodb';
import { apiKeyItem, newApiKey } from '../../shared/aws/api-keys.ts';
import { isId, newId } from '../../shared/ids.ts';
import { explainAwsError, namesOfStack } from '../deployed-stack.ts';

const usage = `Usage: npm run key [-- --stack <name of the stack>] [--user <id of an existing user> | --revoke <key>]
  Creates an API key in a deployed stack, with your AWS credentials. The stack defaults to Lathe; a stage's is Lathe-<stage>.
  --user <id>       one more key for this user; defaults to a new user
  --revoke <key>    makes a key invalid, and creates none
  --table <name>    the output TableName of the stack, where you may not list tables`;

const { values } = parseArgs({
  options: {
    stack: { type: 'string', default: 'Lathe' },
    table: { type: 'string' },
    user: { type: 'string' },
    revoke: { type: 'string' },
  },
});
const user = values.user ?? newId();
if (!isId(user) || (values.user !== undefined && values.revoke !== undefined)) {
  console.error(usage);
  process.exit(1);
}
try {
  const client = new DynamoDBClient({});
  const table = values.table ?? (await tableOf(client, values.stack));
  if (values.revoke === undefined) await create(client, table);
  else await revoke(client, table, values.revoke);
} catch (error) {
  console.error(explainAwsError(error));
  process.exitCode = 1;
}

async function create(client: DynamoDBClient, table: string): Promise<void> {
  const apiKey = newApiKey();
  await client.send(new PutItemCommand({ TableName: table, Item: apiKeyItem(apiKey, { user }) }));
  console.log(`User     ${user}\nAPI key  ${apiKey}\n\nOnly a hash of the key is stored: keep it now.`);
}

async function revoke(client: DynamoDBClient, table: string, apiKey: string): Promise<void> {
  const { pk = { S: '' }, sk = { S: '' } } = apiKeyItem(apiKey, { user: '' });
  const request = { TableName: table, Key: { pk, sk }, ReturnValues: 'ALL_OLD' as const };
  const { Attributes } = await client.send(new DeleteItemCommand(request));
  if (!Attributes) throw new Error(`The table ${table} has no such key.`);
  console.log(`The key of user ${Attributes.user?.S} is no longer valid.`);
}

async function tableOf(client: DynamoDBClient, stack: string): Promise<string> {
  const { prefix, pattern } = namesOfStack(stack);
  // Tables are listed by name, so those before the stack's need not be read.
  for await (const { TableNames = [] } of paginateListTables({ client }, { ExclusiveStartTableName: prefix })) {
    const found = TableNames.find((name) => pattern.test(name));
    if (found !== undefined) return found;
  }
  throw new Error(
    `There is no table of a stack ${stack} in this account and region. Name the stack with --stack, and its region in AWS_REGION.`,
  );
}
