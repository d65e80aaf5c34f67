import { createHash } from 'node:crypto';
import deleteItem from 'dynalite/actions/deleteItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import type { Item, Store, Table, Write } from 'dynalite/db/index.js';
import internals from 'dynalite/db/index.js';
import deleteItemChecks from 'dynalite/validations/deleteItem.js';
import validations from 'dynalite/validations/index.js';
import putItemChecks from 'dynalite/validations/putItem.js';
import updateItemChecks from 'dynalite/validations/updateItem.js';
import { cancellation, exception, type TableResponse } from './table-response.ts';

/** The database for transactions. */
export interface Staging {
  table(name: string): Table | undefined;
  /** Blocks other writes to items of a table until the work is done. */
  lock<T>(table: string, keys: string[], work: () => Promise<T>): Promise<T>;
  /** Returns a store that collects writes instead of making them. Observers are only notified of final ones. */
  stage(writes: Write[], isFinal: boolean): Store;
  /** Makes all collected writes or none. */
  commit(writes: Write[]): Promise<void>;
}

const actions = {
  Put: { run: putItem, checks: putItemChecks },
  Update: { run: updateItem, checks: updateItemChecks },
  Delete: { run: deleteItem, checks: deleteItemChecks },
};
type Verb = keyof typeof actions;

interface Step {
  verb: Verb;
  data: Item;
  table: string;
  key: string;
}

const maxSteps = 100;
/** How long a client token makes repeated requests idempotent. */
const tokenMs = 10 * 60_000;

/**
 * Implements TransactWriteItems, which dynalite lacks: checks the conditions of all items first, then makes all writes
 * in one batch. As in DynamoDB, a transaction that conflicts with one in progress is canceled, not queued.
 * To report: dynalite implements neither TransactWriteItems nor TransactGetItems.
 */
export class Transactions {
  readonly #staging: Staging;
  readonly #inProgress = new Set<string>();
  readonly #tokens = new Map<string, { fingerprint: string; until: number }>();

  constructor(staging: Staging) {
    this.#staging = staging;
  }

  /** Handles a request. */
  async handle(input: Item): Promise<TableResponse> {
    try {
      const steps = this.#parse(input);
      const token = typeof input.ClientRequestToken === 'string' ? input.ClientRequestToken : undefined;
      const fingerprint = createHash('sha256').update(JSON.stringify(input.TransactItems)).digest('hex');
      const known = token === undefined ? undefined : this.#known(token);
      if (known !== undefined && known !== fingerprint)
        return exception('IdempotentParameterMismatchException', 'The token was used with other parameters.');
      if (known !== undefined) return { status: 200, body: {} };
      const response = await this.#carryOut(steps);
      if (token !== undefined && response.status === 200)
        this.#tokens.set(token, { fingerprint, until: Date.now() + tokenMs });
      return response;
    } catch (error) {
      if (isApiError(error)) return { status: error.statusCode, body: error.body };
      throw error;
    }
  }

  #known(token: string): string | undefined {
    const now = Date.now();
    for (const [name, { until }] of this.#tokens) if (until <= now) this.#tokens.delete(name);
    return this.#tokens.get(token)?.fingerprint;
  }

  #parse(input: Item): Step[] {
    const entries = Array.isArray(input.TransactItems) ? input.TransactItems : [];
    if (entries.length === 0 || entries.length > maxSteps)
      throw internals.validationError(`Expected 1 to ${maxSteps} items in TransactItems.`);
    const steps = entries.map((entry) => this.#parseStep(Object(entry)));
    if (new Set(steps.map(({ key }) => key)).size < steps.length)
      throw internals.validationError('Transaction request cannot include multiple operations on one item');
    if (new Set(steps.map(({ table }) => table)).size > 1)
      throw internals.validationError('A transaction on several tables is not supported here.');
    return steps;
  }

  #parseStep(entry: Item): Step {
    const [verb = ''] = Object.keys(entry);
    if (!isVerb(verb)) throw internals.validationError(`${verb} in a transaction is not supported here.`);
    const { checks } = actions[verb];
    const data = checkedInput(Object(entry[verb]), checks);
    const name = String(data.TableName);
    const table = this.#staging.table(name);
    if (!table) throw internals.validationError(`There is no table ${name}.`);
    const item: Item = Object(data.Key ?? data.Item);
    const invalid = data.Key ? internals.validateKey(item, table) : internals.validateItem(item, table);
    if (invalid) throw invalid;
    return { verb, data, table: name, key: internals.createKey(item, table) };
  }

  async #carryOut(steps: Step[]): Promise<TableResponse> {
    const keys = steps.map(({ key }) => key);
    if (keys.some((key) => this.#inProgress.has(key))) return cancellation(steps.map(() => 'TransactionConflict'));
    for (const key of keys) this.#inProgress.add(key);
    try {
      return await this.#staging.lock(steps[0]?.table ?? '', keys, () => this.#write(steps));
    } finally {
      for (const key of keys) this.#inProgress.delete(key);
    }
  }

  async #write(steps: Step[]): Promise<TableResponse> {
    const trial = this.#staging.stage([], false);
    const codes: string[] = [];
    for (const step of steps) codes.push(await outcomeOf(trial, step));
    if (codes.some((code) => code !== 'None')) return cancellation(codes);
    const writes: Write[] = [];
    const final = this.#staging.stage(writes, true);
    for (const step of steps) await perform(final, step);
    await this.#staging.commit(writes);
    return { status: 200, body: {} };
  }
}

async function outcomeOf(store: Store, step: Step): Promise<string> {
  try {
    await perform(store, step);
    return 'None';
  } catch (error) {
    if (isApiError(error) && String(error.body.__type).endsWith('ConditionalCheckFailedException'))
      return 'ConditionalCheckFailed';
    throw error;
  }
}

function checkedInput(input: Item, { types, custom }: (typeof actions)[Verb]['checks']): Item {
  // Expressions are parsed into the data, and evaluating an update changes them: each run needs its own.
  const data = validations.checkTypes(structuredClone(input), types);
  validations.checkValidations(data, types, custom, { options: { maxItemSize: 409_600 } });
  return data;
}

function perform(store: Store, { verb, data }: Step): Promise<void> {
  return new Promise((resolve, reject) =>
    actions[verb].run(store, structuredClone(data), (error) => (error ? reject(error) : resolve())),
  );
}

function isVerb(text: string): text is Verb {
  return text in actions;
}

function isApiError(error: unknown): error is { statusCode: number; body: Record<string, unknown> } {
  return typeof error === 'object' && error !== null && 'statusCode' in error && 'body' in error;
}
