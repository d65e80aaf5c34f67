import { keyValue, queryKey, UNREADABLE } from '../aws/query-key.ts';
import { transactionWrites } from '../aws/transaction-writes.ts';
import type { LocalStack, LocalTable } from '../template/model.ts';
import { type JsonService, Refusal } from './errors.ts';

/** One permission that a call needs, with what conditions may ask of the call. */
export interface RequiredAction {
  action: string;
  resource: string;
  conditions?: Record<string, () => string[] | undefined>;
}

type Input = Record<string, unknown>;

const ITEM_OPERATIONS = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan']);
const TABLE_OPERATIONS = new Set(['DescribeTable', 'DescribeTimeToLive']);
const BATCH_OPERATIONS = new Set(['BatchGetItem', 'BatchWriteItem']);

/** Returns the permissions that a DynamoDB call needs; refuses what is not supported here. */
export function dynamodbActions(stack: LocalStack, operation: string, input: Input): RequiredAction[] {
  const tables = new Map(stack.tables.map((table) => [table.name, table]));
  const action = `dynamodb:${operation}`;
  const tableArn = (name: string) =>
    tables.get(name)?.arn ?? `arn:aws:dynamodb:${stack.region}:${stack.account}:table/${name}`;
  if (BATCH_OPERATIONS.has(operation)) {
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
  const known = ITEM_OPERATIONS.has(operation) || TABLE_OPERATIONS.has(operation);
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

const SQS_OPERATIONS =
  /^(SendMessage|DeleteMessage|ChangeMessageVisibility)(Batch)?$|^(ReceiveMessage|GetQueueAttributes|GetQueueUrl|ListQueues|PurgeQueue)$/;

/** Returns the permission that an SQS call needs; refuses what is not supported here. */
export function sqsActions(stack: LocalStack, operation: string, input: Input): RequiredAction[] {
  if (!SQS_OPERATIONS.test(operation))
    throw new Refusal('unsupported', `The operation ${operation} of SQS is not supported here.`);
  if (operation === 'ListQueues')
    // No resource can be named for it: only a policy on `*` allows it.
    return [{ action: 'sqs:ListQueues', resource: '*' }];
  const name = queueName(input);
  if (!name) throw new Refusal('invalid-request', 'The request must contain the parameter QueueUrl.');
  // A batch needs the permission of its single operation.
  const action = `sqs:${operation.replace(/Batch$/, '')}`;
  return [{ action, resource: `arn:aws:sqs:${stack.region}:${stack.account}:${name}` }];
}

/** Returns the permissions that an EventBridge call needs: one for each bus that it puts events on. */
export function eventsActions(stack: LocalStack, operation: string, input: Input): RequiredAction[] {
  if (operation !== 'PutEvents')
    throw new Refusal('unsupported', `The operation ${operation} of EventBridge is not supported here.`);
  const entries = Array.isArray(input.Entries) ? input.Entries : [];
  const names = new Set(entries.map((entry) => String(objectOf(entry).EventBusName ?? 'default')));
  return [...names].map((name) => ({
    action: 'events:PutEvents',
    resource: name.startsWith('arn:') ? name : `arn:aws:events:${stack.region}:${stack.account}:event-bus/${name}`,
  }));
}

/** Reads the operation out of the target header, such as `DynamoDB_20120810.GetItem`. */
export function operationOf(service: JsonService, target: string | string[] | undefined): string {
  const prefix = {
    dynamodb: 'DynamoDB_20120810.',
    sqs: 'AmazonSQS.',
    events: 'AWSEvents.',
    'execute-api': '?',
    lambda: '?',
  }[service];
  if (typeof target !== 'string' || !target.startsWith(prefix)) {
    throw new Refusal('unsupported', 'The request does not name an operation of this service.');
  }
  return target.slice(prefix.length);
}

function queueName(input: Input): string | undefined {
  if (typeof input.QueueUrl === 'string') return input.QueueUrl.split('/').filter(Boolean).at(-1);
  return typeof input.QueueName === 'string' ? input.QueueName : undefined;
}

function leadingKeys(read: () => string[]): NonNullable<RequiredAction['conditions']> {
  return { 'dynamodb:leadingkeys': read };
}

function itemKeys(operation: string, input: Input, table: LocalTable | undefined): string[] {
  if (!table || operation === 'Scan' || TABLE_OPERATIONS.has(operation)) return [];
  if (operation === 'Query') return [queryKey(input, table)];
  return [keyValue(objectOf(operation === 'PutItem' ? input.Item : input.Key)[table.partitionKey.name])];
}

function batchKeys(requests: unknown, table: LocalTable | undefined): string[] {
  if (!table) return [UNREADABLE];
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
