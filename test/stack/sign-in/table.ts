import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { LocalStack } from '../../../packages/local-aws/src/template/model.ts';
import { type Item, type Key, toAttributes } from '../../../shared/aws/table.ts';
import { clientAs, roleOf } from '../../support/roles.ts';

/** A function without permissions of its own, whose role tests use to read the table. */
const reader = 'HttpOpenapi';

/** Lets tests read and write every item. */
export function openTable(stack: LocalStack): void {
  roleOf(stack, reader).statements.push({
    effect: 'Allow',
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
    resources: stack.tables.map(({ arn }) => arn),
    conditions: {},
  });
}

/** Reads and writes items of a stack whose table was opened. */
export async function tableOf(service: { stack: LocalStack; url: string; dataDirectory: string }) {
  const client = new DynamoDBClient(await clientAs(service, reader, 'dynamodb'));
  const TableName = service.stack.tables[0]?.name;
  return {
    async get(key: Key): Promise<Item | undefined> {
      const { Item } = await client.send(
        new GetItemCommand({ TableName, Key: toAttributes(key), ConsistentRead: true }),
      );
      return Item && unmarshall(Item);
    },
    async put(item: Key & Item): Promise<void> {
      await client.send(new PutItemCommand({ TableName, Item: toAttributes(item) }));
    },
    async query(pk: string): Promise<Item[]> {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: toAttributes({ ':pk': pk }),
          ConsistentRead: true,
        }),
      );
      return Items.map((item) => unmarshall(item));
    },
  };
}
