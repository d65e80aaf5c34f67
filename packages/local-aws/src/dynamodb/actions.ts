import { Refusal, type RequiredAction } from '../iam/refusal.ts';
import type { LocalStack, LocalTable } from '../template/model.ts';
import { keyValue, queryKey, unreadable } from './query-key.ts';
import { transactionWrites } from './transaction-writes.ts';

type Input = Record<string, unknown>;

const itemOperations = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan']);
const tableOperations = new Set(['DescribeTable', 'DescribeTimeToLive']);
const batchOperations = new Set(['BatchGetItem', 'BatchWriteItem']);

/** Returns the permissions that a DynamoDB call needs, and refuses unsupported operations. */
export function dynamodbActions(stack: LocalStack, operation: string, input: Input): RequiredAction[] {
  const tables = new Map(stack.tables.map((table) => [table.name, table]));
  const action = `dynamodb:${operation}`;
  const tableArn = (name: string) =>
    tables.get(name)?.arn ?? `arn:aws:dynamodb:${stack.region}:${stack.account}:table/${name}`;
  if (batchOperations.has(operation)) {
    return Object.entries(objectOf(input.RequestItems)).map(([name, requests]) => ({
      action,
      resource: tableArn(name),
      conditions: leadingKeys(() => batchKeys(requests, tables.get(name))),
    }));
  }
  if (operation === 'TransactWriteItems') {
    // A transaction needs the permission of each of its writes.
    return transactionWrites(input).map(([verb, write]) => {
      const name = String(write.TableName);
      return {
        action: `dynamodb:${verb}Item`,
        resource: tableArn(name),
        conditions: leadingKeys(() => itemKeys(`${verb}Item`, write, tables.get(name))),
      };
    });
  }
  const name = input.TableName;
  const known = itemOperations.has(operation) || tableOperations.has(operation);
  if (!known) throw new Refusal('unsupported', `The operation ${operation} of DynamoDB is not supported here.`);
  if (typeof name !== 'string') throw new Refusal('invalid-request', 'TableName is missing');
  const index = typeof input.IndexName === 'string' ? `/index/${input.IndexName}` : '';
  return [
    {
      action,
      resource: `${tableArn(name)}${index}`,
      conditions: leadingKeys(() => itemKeys(operation, input, tables.get(name))),
    },
  ];
}

function leadingKeys(read: () => string[]): NonNullable<RequiredAction['conditions']> {
  return { 'dynamodb:leadingkeys': read };
}

function itemKeys(operation: string, input: Input, table: LocalTable | undefined): string[] {
  if (!table || operation === 'Scan' || tableOperations.has(operation)) return [];
  if (operation === 'Query') return [queryKey(input, table)];
  return [keyValue(objectOf(operation === 'PutItem' ? input.Item : input.Key)[table.partitionKey.name])];
}

function batchKeys(requests: unknown, table: LocalTable | undefined): string[] {
  if (!table) return [unreadable];
  const list = Array.isArray(requests) ? requests : objectOf(requests).Keys;
  return (Array.isArray(list) ? list : [undefined]).map((request) => {
    const { PutRequest, DeleteRequest } = objectOf(request);
    const key = PutRequest ? objectOf(PutRequest).Item : DeleteRequest ? objectOf(DeleteRequest).Key : request;
    return keyValue(objectOf(key)[table.partitionKey.name]);
  });
}

function objectOf(value: unknown): Input {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
