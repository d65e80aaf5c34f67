import { parseArgs } from 'node:util';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { apiKeyItem, newApiKey } from '../../shared/aws/api-keys.ts';
import { isId, newId } from '../../shared/ids.ts';

const { values } = parseArgs({ options: { table: { type: 'string' }, user: { type: 'string' } } });
const user = values.user ?? newId();
if (!values.table || !isId(user)) {
  console.error('Usage: npm run key -- --table <TableName output of the stack> [--user <id of an existing user>]');
  process.exit(1);
}
const apiKey = newApiKey();
await new DynamoDBClient({}).send(new PutItemCommand({ TableName: values.table, Item: apiKeyItem(apiKey, { user }) }));
console.log(`User     ${user}\nAPI key  ${apiKey}\n\nOnly a hash of the key is stored: keep it now.`);
