import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Faults } from '../faults/faults.ts';
import type { KeyAttribute, LocalTable } from '../template/model.ts';
import { CallError } from '../wire/connection.ts';
import { CapturedResponse, ForwardedRequest } from '../wire/forwarded-request.ts';
import { RequestCounter } from './capacity/count-requests.ts';
import { CapacityMeter } from './capacity/meter.ts';
import { writeConsumption } from './capacity/units.ts';
import { type ItemObserver, openItemDatabase } from './dynalite-patches.ts';
import { misbehavingReplica } from './misbehaving-replica.ts';
import { misbehavingTables } from './misbehaving-tables.ts';
import { respond } from './table-response.ts';
import { transactionWrites } from './transaction-writes.ts';

export interface Tables {
  handle(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> | void;
  call(operation: string, input: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface TablesOptions {
  /** Counts the capacity units of every request. */
  meter?: CapacityMeter | undefined;
  faults?: Faults | undefined;
}

/** Starts the embedded DynamoDB on the folder and creates the template's tables. */
export async function startTables(
  tables: LocalTable[],
  directory: string,
  { faults, meter = faults && new CapacityMeter() }: TablesOptions = {},
): Promise<Tables> {
  const database = await openItemDatabase(directory, {
    observer: meter && observerFor(tables, meter),
    replica: faults && misbehavingReplica(faults),
  });
  const counter = meter && new RequestCounter(tables, database.peek, meter);
  const pending = new Set<Promise<void>>();
  let isClosing = false;

  function track(res: ServerResponse) {
    const response = watchEnd(res);
    pending.add(response.ended);
    void response.ended.then(() => pending.delete(response.ended));
    return response;
  }

  function dispatch(
    original: IncomingMessage | { socket: Socket },
    headers: IncomingMessage['headers'],
    server = database.server,
  ) {
    return (res: ServerResponse, body: Buffer) => {
      const request = new ForwardedRequest({ method: 'POST', socket: original.socket }, '/', headers);
      const response = track(res);
      try {
        server.emit('request', request, res);
        // Emitted here instead of by a stream, because dynalite throws unexpected errors out of its listeners.
        request.emit('data', body);
        request.emit('end');
      } catch (error) {
        response.settle();
        throw error;
      }
    };
  }

  const nowhere = new Socket();
  async function call(operation: string, input: object): Promise<Record<string, unknown>> {
    const res = new CapturedResponse();
    dispatch(
      { socket: nowhere },
      {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
        'x-amz-date': 'local',
        authorization: 'AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=local',
      },
    )(res, Buffer.from(JSON.stringify(input)));
    const output: Record<string, unknown> = JSON.parse(await res.body);
    if (res.statusCode !== 200) throw new CallError(operation, String(output.__type), String(output.message));
    return output;
  }

  try {
    await provisionTables(tables, call);
  } catch (error) {
    await database.close();
    throw error;
  }

  async function transact(res: ServerResponse, input: Record<string, unknown>): Promise<void> {
    const response = track(res);
    try {
      const { status, body } = await database.transactions.handle(input);
      respond(res, status, JSON.stringify(body));
    } catch (error) {
      response.settle();
      throw error;
    }
  }

  const own: Tables = {
    handle(req, res, body) {
      if (isClosing) throw new Error('The tables are closing');
      // Only parsed if needed: a large body takes a while.
      const request = counter || database.replica ? readRequest(req, body) : undefined;
      if (counter && request) count(counter, request, res);
      if (String(req.headers['x-amz-target']).endsWith('.TransactWriteItems'))
        return transact(res, Object(JSON.parse(body.toString())));
      const server = request && isEventual(request) ? database.replica : undefined;
      dispatch(req, req.headers, server)(res, body);
    },
    call,
    async close() {
      isClosing = true;
      // dynalite throws, uncaught, if the database closes between two steps of a call.
      await Promise.all(pending);
      await database.close();
    },
  };
  if (!faults || !meter) return own;
  return { ...own, handle: misbehavingTables(own.handle, { tables, faults, meter, peek: database.peek }) };
}

interface TableRequest {
  operation: string;
  input: Record<string, unknown>;
}

function readRequest({ headers }: IncomingMessage, body: Buffer): TableRequest {
  const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
  return { operation, input: Object(JSON.parse(body.toString())) };
}

/** Returns whether a read is eventually consistent. */
function isEventual({ operation, input }: TableRequest): boolean {
  if (operation === 'GetItem' || operation === 'Query') return input.ConsistentRead !== true;
  if (operation !== 'BatchGetItem') return false;
  return Object.values(Object(input.RequestItems)).some((request) => Object(request).ConsistentRead !== true);
}

function observerFor(tables: LocalTable[], meter: CapacityMeter): ItemObserver {
  const byName = new Map(tables.map((table) => [table.name, table]));
  return {
    written(name, existing, item) {
      const table = byName.get(name);
      for (const consumption of table ? writeConsumption(table, existing, item) : []) meter.add(consumption);
    },
    queried: (query) => meter.add({ ...query, kind: 'read' }),
  };
}

function count(counter: RequestCounter, { operation, input }: TableRequest, res: ServerResponse): void {
  counter.countRead(operation, input);
  onEnd(res, (response) => {
    if (res.statusCode !== 400) return;
    if (response.includes('ConditionalCheckFailedException')) counter.countRefusal(input);
    if (response.includes('TransactionCanceledException'))
      for (const [, write] of transactionWrites(input)) counter.countRefusal(write, 2);
  });
}

/** Resolves when the server ends a response, even if its client has disconnected. */
function watchEnd(res: ServerResponse): { ended: Promise<void>; settle(): void } {
  const { promise: ended, resolve: settle } = Promise.withResolvers<void>();
  onEnd(res, () => settle());
  return { ended, settle };
}

/** Calls back with the body of a response when the server ends it. */
function onEnd(res: ServerResponse, listener: (body: string) => void): void {
  res.end = new Proxy(res.end, {
    apply(end, self, args) {
      listener(typeof args[0] === 'string' ? args[0] : '');
      return Reflect.apply(end, self, args);
    },
  });
}

/** Creates the template's tables that do not exist yet. */
export async function provisionTables(tables: LocalTable[], call: Tables['call']): Promise<void> {
  for (const table of tables) await provision(table, call);
}

async function provision(table: LocalTable, call: Tables['call']): Promise<void> {
  const definition = tableDefinition(table);
  const found = await describe(table.name, call);
  if (found && fingerprint(found) !== fingerprint(definition)) {
    throw new Error(
      `The data folder belongs to an older schema of the table ${table.name}. Delete the data folder to start over.`,
    );
  }
  if (!found) await call('CreateTable', definition);
  for (let attempt = 0; attempt < 1000; attempt++) {
    const { TableStatus } = (await describe(table.name, call)) ?? {};
    if (TableStatus === 'ACTIVE') return;
    await new Promise(setImmediate);
  }
  throw new Error(`The table ${table.name} was only partly created. Delete the data folder to start over.`);
}

async function describe(name: string, call: Tables['call']): Promise<TableDescription | undefined> {
  try {
    const { Table } = await call('DescribeTable', { TableName: name });
    return isDescription(Table) ? Table : undefined;
  } catch (error) {
    if (error instanceof CallError && error.type.endsWith('ResourceNotFoundException')) return undefined;
    throw error;
  }
}

interface KeySchema {
  AttributeName: string;
  KeyType: string;
}

interface TableDescription {
  TableStatus?: string;
  AttributeDefinitions: { AttributeName: string; AttributeType: string }[];
  KeySchema: KeySchema[];
  GlobalSecondaryIndexes?: {
    IndexName: string;
    KeySchema: KeySchema[];
    Projection: { ProjectionType: string; NonKeyAttributes?: string[] };
  }[];
}

function isDescription(value: unknown): value is TableDescription {
  return typeof value === 'object' && value !== null && 'KeySchema' in value && 'AttributeDefinitions' in value;
}

function tableDefinition(table: LocalTable): TableDescription & { TableName: string; BillingMode: string } {
  const attributes = new Map<string, string>();
  const schema = (partitionKey: KeyAttribute, sortKey: KeyAttribute | undefined): KeySchema[] => {
    attributes.set(partitionKey.name, partitionKey.type);
    if (sortKey) attributes.set(sortKey.name, sortKey.type);
    return [
      { AttributeName: partitionKey.name, KeyType: 'HASH' },
      ...(sortKey ? [{ AttributeName: sortKey.name, KeyType: 'RANGE' }] : []),
    ];
  };
  const KeySchema = schema(table.partitionKey, table.sortKey);
  const indexes = table.indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: schema(index.partitionKey, index.sortKey),
    Projection: {
      ProjectionType: index.projection.type,
      ...(index.projection.type === 'INCLUDE' ? { NonKeyAttributes: index.projection.attributes } : {}),
    },
  }));
  return {
    TableName: table.name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema,
    AttributeDefinitions: [...attributes].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    ...(indexes.length > 0 ? { GlobalSecondaryIndexes: indexes } : {}),
  };
}

function fingerprint(table: TableDescription): string {
  const keys = (schema: KeySchema[]) => schema.map((key) => `${key.KeyType}:${key.AttributeName}`).sort();
  return JSON.stringify({
    attributes: table.AttributeDefinitions.map((a) => `${a.AttributeName}:${a.AttributeType}`).sort(),
    keys: keys(table.KeySchema),
    indexes: (table.GlobalSecondaryIndexes ?? [])
      .map((index) =>
        JSON.stringify([
          index.IndexName,
          keys(index.KeySchema),
          index.Projection.ProjectionType,
          [...(index.Projection.NonKeyAttributes ?? [])].sort(),
        ]),
      )
      .sort(),
  });
}
