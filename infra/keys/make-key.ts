import { parseArgs } from 'node:util';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { newApiKey } from '../../shared/aws/stores/api-keys.ts';
import { isId, newId } from '../../shared/ids.ts';
import { explainAwsError, namesOfStack } from '../deployed-stack.ts';
import { numberOf, readRights, rightsOptions, rightsUsage, UsageError } from './key-options.ts';
import { StoredKeys } from './stored-keys.ts';

const usage = `Usage: npm run key [-- --stack <name of the stack>] [--user <id of an account>] [--name <name>] [rights]
       npm run key -- --list --user <id of an account>
       npm run key -- --allow <minutes> --user <id of an account>
       npm run key -- --revoke <key>, or --revoke <id of a key> --user <id of its account>
  Creates, lists or revokes API keys in a deployed stack, with your AWS credentials. The stack defaults to Lathe; a stage's is Lathe-<stage>.
  --user <id>       the account; a key is created for a new one by default
  --name <name>     what the key is for
${rightsUsage}
  --list            lists the keys of an account, and creates none
  --allow <minutes> sets the conversion minutes of an account in a month, 0 for no limit, and creates no key
  --revoke <key>    makes a key invalid, and creates none
  --table <name>    the output TableName of the stack, if you may not list tables`;

try {
  await main();
} catch (error) {
  console.error(error instanceof UsageError ? `${error.message}\n${usage}` : explainAwsError(error));
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const values = readOptions();
  const { user, revoke, list, allow } = values;
  const isChoiceWrong = (list || allow !== undefined) && (user === undefined || revoke !== undefined);
  if ((user !== undefined && !isId(user)) || isChoiceWrong) throw new UsageError('Expected the id of an account.');
  const minutes = allow === undefined ? undefined : numberOf(allow, '--allow', 0);
  const rights = await readRights(values);
  const client = new DynamoDBClient({});
  const table = values.table ?? (await tableOf(client, values.stack));
  const keys = new StoredKeys(client, table);
  if (revoke !== undefined) return revokeKey(keys, table, revoke, user);
  if (minutes !== undefined && user !== undefined) {
    if (!(await keys.allow(user, minutes))) throw new Error(`The table ${table} has no account ${user}.`);
    const allowance = minutes === 0 ? 'any number of conversion minutes' : `${minutes} conversion minutes a month`;
    console.log(`The account ${user} may use ${allowance} within a minute from now.`);
    return;
  }
  if (list && user !== undefined) {
    const lines = await keys.list(user);
    console.log(lines.length > 0 ? lines.join('\n') : `The account ${user} has no listed keys.`);
    return;
  }
  const apiKey = newApiKey();
  const account = user ?? newId();
  const { id } = await keys.create(apiKey, { id: newId(), user: account, name: values.name, ...rights });
  console.log(
    `User     ${account}\nKey id   ${id}\nAPI key  ${apiKey}\n\nOnly a hash of the key is stored: keep it now.`,
  );
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        stack: { type: 'string', default: 'Lathe' },
        table: { type: 'string' },
        user: { type: 'string' },
        name: { type: 'string', default: 'Made by the operator' },
        list: { type: 'boolean' },
        allow: { type: 'string' },
        revoke: { type: 'string' },
        ...rightsOptions,
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function revokeKey(keys: StoredKeys, table: string, keyOrId: string, user?: string): Promise<void> {
  if (isId(keyOrId) && user === undefined) throw new UsageError('Expected --user, the account of the key to revoke.');
  const owner = user === undefined ? await keys.revoke(keyOrId) : await keys.revokeById(user, keyOrId);
  if (owner === undefined) throw new Error(`The table ${table} has no such key.`);
  console.log(`The key of user ${owner} is no longer valid.`);
}

async function tableOf(client: DynamoDBClient, stack: string): Promise<string> {
  const { prefix, pattern } = namesOfStack(stack);
  // Tables are listed by name, so listing can start just before the stack's.
  for await (const { TableNames = [] } of paginateListTables({ client }, { ExclusiveStartTableName: prefix })) {
    const found = TableNames.find((name) => pattern.test(name));
    if (found !== undefined) return found;
  }
  throw new Error(
    `There is no table of a stack ${stack} in this account and region. Name the stack with --stack, and its region in AWS_REGION.`,
  );
}
