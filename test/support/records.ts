import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { shardOf } from '../../shared/aws/stores/records.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { groupOfId } from '../../shared/ids.ts';
import { clientAs } from './roles.ts';

type Service = { stack: LocalStack; url: string; dataDirectory: string };
type Key = { pk: string; sk: string };

/** A past time, for due records. */
export const past = Date.now() - 60_000;

/** Returns the key of a task's record in the table. */
export function keyOfTask(id: string): Key {
  return { pk: `${partitions.group}${groupOfId(id)}`, sk: `task#${id}` };
}

/** Returns the key of a job's record in the table. */
export function keyOfJob(id: string): Key {
  return { pk: `${partitions.group}${groupOfId(id)}`, sk: 'job' };
}

/** Sets attributes of a record directly, as if time had passed. */
export async function change(service: Service, key: Key, attributes: Record<string, unknown>): Promise<void> {
  const names = Object.keys(attributes);
  await (await tableOf(service)).send(
    new UpdateItemCommand({
      TableName: service.stack.tables[0]?.name,
      Key: marshall(key),
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')} ADD version :one`,
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: marshall({
        ':one': 1,
        ...Object.fromEntries(names.map((name) => [`:${name}`, attributes[name]])),
      }),
    }),
  );
}

/** Makes a record due for the sweep. */
export function makeDue(service: Service, key: Key, id: string): Promise<void> {
  return change(service, key, { dueAt: past, dueShard: shardOf(id) });
}

/** Returns the stored item of a record. */
export async function itemOf(service: Service, key: Key): Promise<Record<string, unknown> | undefined> {
  const { Item } = await (await tableOf(service)).send(
    new GetItemCommand({ TableName: service.stack.tables[0]?.name, Key: marshall(key), ConsistentRead: true }),
  );
  return Item && unmarshall(Item);
}

async function tableOf(service: Service): Promise<DynamoDBClient> {
  return new DynamoDBClient(await clientAs(service, 'LifecycleSweep', 'dynamodb'));
}
