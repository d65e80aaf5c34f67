import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Actor } from '../../shared/accounts/audit.ts';
import { accountItem, accountKey } from '../../shared/aws/stores/accounts.ts';
import { type ApiKey, describeKey, itemsOfKey } from '../../shared/aws/stores/api-keys.ts';
import { auditItem } from '../../shared/aws/stores/audit.ts';
import { toAttributes } from '../../shared/aws/table.ts';
import { defined } from '../../shared/defined.ts';

const operator: Actor = { type: 'operator' };

/** The keys of a deployed stack as its operator manages them, with the same items and audit entries as the API. */
export class StoredKeys {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  /** Stores a key, and its account if that does not exist. */
  async create(
    apiKey: string,
    fields: Pick<ApiKey, 'id' | 'user' | 'name'> & Partial<Pick<ApiKey, 'scopes' | 'limits' | 'expiresAt'>>,
  ): Promise<ApiKey> {
    const key = describeKey(apiKey, { ...fields, createdBy: operator });
    const { id, user, name, scopes } = key;
    const account = { id: user, kind: 'personal', name: 'Made by the operator', createdAt: key.createdAt } as const;
    await putNew(this.#client, this.#table, accountItem(account));
    await this.#put(auditItem(user, { action: 'key.created', subject: id, name, scopes, actor: operator }));
    const { listed, effective } = itemsOfKey(key);
    await this.#put(listed);
    await this.#put(effective);
    return key;
  }

  /** Sets the monthly conversion minutes of an account, 0 for no limit; returns whether the account exists. */
  async allow(user: string, minutesPerMonth: number): Promise<boolean> {
    const request = {
      TableName: this.#table,
      Key: toAttributes(accountKey(user)),
      UpdateExpression: 'SET minutesPerMonth = :minutes',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: toAttributes({ ':minutes': minutesPerMonth }),
    };
    try {
      await this.#client.send(new UpdateItemCommand(request));
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  /** Returns the keys of an account as lines of text. */
  async list(user: string): Promise<string[]> {
    const { pk = { S: '' } } = toAttributes(itemsOfKey(described('', user)).listed);
    const lines: string[] = [];
    const request = {
      TableName: this.#table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
    };
    for await (const { Items = [] } of paginateQuery({ client: this.#client }, request))
      for (const { id, start, name, scopes, createdAt, expiresAt } of Items)
        lines.push(
          [
            id?.S,
            `${start?.S}…`,
            (scopes?.L ?? []).map(({ S }) => S).join(','),
            createdAt?.S,
            expiresAt?.S ? `expires ${expiresAt.S}` : 'does not expire',
            name?.S,
          ].join('  '),
        );
    return lines;
  }

  /** Revokes a key and returns its account; undefined if there is no such key. */
  async revoke(apiKey: string): Promise<string | undefined> {
    const key = described(apiKey, '');
    const found = await this.#get(itemsOfKey(key).effective);
    return found?.user?.S && this.#remove(key.hash, found.user.S, found.id?.S ?? key.id);
  }

  /** Revokes a key of an account by its id. */
  async revokeById(user: string, id: string): Promise<string | undefined> {
    const found = await this.#get(itemsOfKey({ ...described('', user), id }).listed);
    return found?.hash?.S && this.#remove(found.hash.S, user, id, found.name?.S);
  }

  async #remove(hash: string, user: string, id: string, name?: string): Promise<string> {
    const { listed, effective } = itemsOfKey({ ...described('', user), hash, id });
    await this.#put(auditItem(user, { action: 'key.deleted', subject: id, ...defined({ name }), actor: operator }));
    for (const { pk, sk } of [effective, listed])
      await this.#client.send(new DeleteItemCommand({ TableName: this.#table, Key: toAttributes({ pk, sk }) }));
    return user;
  }

  async #get({ pk, sk }: { pk: string; sk: string }) {
    const request = { TableName: this.#table, Key: toAttributes({ pk, sk }), ConsistentRead: true };
    return (await this.#client.send(new GetItemCommand(request))).Item;
  }

  async #put(item: object): Promise<void> {
    await this.#client.send(new PutItemCommand({ TableName: this.#table, Item: toAttributes(item) }));
  }
}

/** Writes an item unless there is one with its key. */
export async function putNew(client: DynamoDBClient, TableName: string, item: object): Promise<void> {
  const request = { TableName, Item: toAttributes(item), ConditionExpression: 'attribute_not_exists(pk)' };
  try {
    await client.send(new PutItemCommand(request));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

/** Returns the stored form of a key. */
function described(apiKey: string, user: string): ApiKey {
  return describeKey(apiKey, { user, name: '', createdBy: operator });
}
