import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from '../faults/faults.ts';
import type { Random } from '../faults/random.ts';
import type { LocalTable } from '../template/model.ts';
import { CapturedResponse } from '../wire/forwarded-request.ts';
import type { CapacityMeter } from './capacity/meter.ts';
import { KeyThrottle, type ThrottlingReason, throttlingBody } from './key-throttles.ts';
import { cancellation, exception, respond, type TableResponse } from './table-response.ts';
import { transactionWrites } from './transaction-writes.ts';
import { chooseUnprocessed, splitBatch } from './unprocessed.ts';

type Input = Record<string, unknown>;
type Handle = (req: IncomingMessage, res: ServerResponse, body: Buffer) => Promise<void> | void;

const conflictRate = 0.02;
const batches: Record<string, string> = { BatchWriteItem: 'UnprocessedItems', BatchGetItem: 'UnprocessedKeys' };

/**
 * Returns a request handler for tables that are throttled by partition key, and whose batches leave entries
 * unprocessed.
 */
export function misbehavingTables(
  handle: Handle,
  context: {
    tables: LocalTable[];
    faults: Faults;
    meter: CapacityMeter;
    peek(table: string, key: Input): Input | undefined;
  },
): Handle {
  const unprocessed = context.faults.random('unprocessed');
  const random = context.faults.random('conflicts');
  const conflicts = random && { random, seen: new Set<string>() };
  const throttle = context.faults.random('key-throttles')
    ? new KeyThrottle(context.tables, context.meter, context.peek)
    : undefined;

  async function handleBatch(operation: string, req: IncomingMessage, res: ServerResponse, input: Input) {
    const isChosen = unprocessed ? chooseUnprocessed(unprocessed) : () => false;
    let refusal: ThrottlingReason | undefined;
    const split = splitBatch(input, (table, entry) => {
      const own = throttle?.refusalOfEntry(table, entry);
      refusal ??= own;
      return own !== undefined || isChosen();
    });
    if (!split.processed && refusal) return respond(res, 400, throttlingBody(refusal));
    const captured = new CapturedResponse();
    await handle(req, captured, Buffer.from(JSON.stringify(split.processed)));
    const text = await captured.body;
    const field = batches[operation] ?? '';
    if (captured.statusCode !== 200) return respond(res, captured.statusCode, text);
    const output = Object(JSON.parse(text));
    respond(res, 200, JSON.stringify({ ...output, [field]: merge(Object(output[field]), split.unprocessed) }));
  }

  return async (req, res, body) => {
    const operation = String(req.headers['x-amz-target']).split('.').at(-1) ?? '';
    const input: Input = Object(JSON.parse(body.toString()));
    if (operation in batches) return handleBatch(operation, req, res, input);
    const conflict = conflicts && conflictIn(operation, input, conflicts);
    if (conflict) return respond(res, conflict.status, JSON.stringify(conflict.body));
    const refusal = throttle && firstRefusal(throttle, operation, input);
    if (refusal) return respond(res, 400, throttlingBody(refusal));
    return handle(req, res, body);
  };
}

function firstRefusal(throttle: KeyThrottle, operation: string, input: Input): ThrottlingReason | undefined {
  if (operation !== 'TransactWriteItems') return throttle.refusal(operation, input);
  for (const [verb, write] of transactionWrites(input)) {
    const refusal = throttle.refusal(`${verb}Item`, write);
    if (refusal) return refusal;
  }
  return undefined;
}

/**
 * Returns the response to a write that conflicts with a transaction.
 * Imitates: "a TransactionConflictException exception is thrown for the corresponding item-level request", and "a
 * TransactionCanceledException exception is thrown" for a transaction (developer guide, "Transaction conflict
 * handling").
 */
function conflictIn(operation: string, input: Input, { random, seen }: Conflicts): TableResponse | undefined {
  if (operation === 'TransactWriteItems') {
    const writes = transactionWrites(input);
    for (const [, write] of writes) seen.add(placeOf(write));
    if (!random.chance(conflictRate)) return undefined;
    return cancellation(writes.map((_, index) => (index === 0 ? 'TransactionConflict' : 'None')));
  }
  const isWrite = operation === 'PutItem' || operation === 'UpdateItem' || operation === 'DeleteItem';
  if (!isWrite || !seen.has(placeOf(input)) || !random.chance(conflictRate)) return undefined;
  return exception('TransactionConflictException', 'Transaction is ongoing for the item');
}

/** Conflicts of transactions: the random generator, and the items that have been in a transaction. */
interface Conflicts {
  random: Random;
  seen: Set<string>;
}

function placeOf({ TableName, Key, Item }: Input): string {
  const { pk, sk }: Input = Object(Key ?? Item);
  return JSON.stringify([TableName, pk, sk]);
}

/** Merges the entries that the database left unprocessed with those that were held back. */
function merge(left: Input, more: Input): Input {
  const merged: Input = { ...left };
  for (const [table, request] of Object.entries(more)) {
    const before: unknown = left[table];
    if (before === undefined) merged[table] = request;
    else if (Array.isArray(before) && Array.isArray(request)) merged[table] = [...before, ...request];
    else merged[table] = { ...Object(request), Keys: [...Object(before).Keys, ...Object(request).Keys] };
  }
  return merged;
}
