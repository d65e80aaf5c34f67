import type { LocalTable } from '../template/model.ts';

/** Represents a key that could not be read from the request. It equals no key that a policy can name. */
export const unreadable = '\u0000';

/** Returns the partition key that a query reads. */
export function queryKey(input: Record<string, unknown>, table: LocalTable): string {
  const index = table.indexes.find((candidate) => candidate.name === input.IndexName);
  const attribute = (index ?? table).partitionKey.name;
  const names: Record<string, unknown> = Object(input.ExpressionAttributeNames);
  const values: Record<string, unknown> = Object(input.ExpressionAttributeValues);
  const expression = typeof input.KeyConditionExpression === 'string' ? input.KeyConditionExpression : '';
  for (const [, name = '', value = ''] of expression.matchAll(/([#\w.-]+)\s*=\s*(:\w+)/g)) {
    if ((name.startsWith('#') ? names[name] : name) === attribute) return keyValue(values[value]);
  }
  return unreadable;
}

/** Returns the value of a key attribute as text. */
export function keyValue(value: unknown): string {
  const { S, N, B } = Object(value);
  const text = S ?? N ?? B;
  return typeof text === 'string' ? text : unreadable;
}
