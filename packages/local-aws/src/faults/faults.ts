import { Random } from './random.ts';

/** The faults that can be enabled, and their effects. Their modules cite the AWS documentation. */
export const faultNames = {
  'index-lag': 'indexes show changes up to 3 seconds late',
  'stale-reads': 'eventually consistent reads may return the previous version of an item',
  'late-notifications': 'S3 notifies up to 5 seconds late, out of order, and sometimes twice',
  deliveries: 'SQS delivers out of order, in smaller batches, and some messages twice',
  'key-throttles': 'DynamoDB refuses more than 1,000 write or 3,000 read units a second of one partition key',
  conflicts: 'DynamoDB cancels transactions, and refuses writes to items that are in one',
  unprocessed: 'DynamoDB batches leave some of their entries unprocessed',
  errors: 'DynamoDB, S3 and SQS occasionally fail with status 500 or 503',
  'lost-responses': 'writes to tables occasionally fail after they took effect',
  credentials: 'the credentials of a function, and URLs signed with them, expire a minute or two after its start',
  'invoke-throttles': 'Lambda briefly throttles invocations',
  recycling: 'environments end between invocations, and connections of frozen ones are closed',
  kills: 'environments end during invocations that no API client waits for',
} as const;

export type FaultName = keyof typeof faultNames;

export class FaultsError extends Error {}

/** The enabled faults, with their random generator. */
export class Faults {
  readonly names: FaultName[];
  readonly seed: number;
  readonly #generators: Map<string, Random>;

  constructor(names: FaultName[], seed: number) {
    this.names = names;
    this.seed = seed;
    const root = new Random(seed);
    this.#generators = new Map(names.map((name) => [name, root.fork(name)]));
  }

  /** Returns the generator of a fault, or undefined if it is disabled. */
  random(name: FaultName): Random | undefined {
    return this.#generators.get(name);
  }

  /** Returns the variable's value that repeats this run. */
  toString(): string {
    const all = this.names.length === Object.keys(faultNames).length;
    return `${all ? 'all' : this.names.join(',')}:${this.seed}`;
  }
}

/**
 * Parses the enabled faults: `all`, or names separated by commas, and after a colon the seed of the generator
 * (`all:1234`, `index-lag,kills`). A minus before a name excludes it (`all,-kills`). Empty for none.
 */
export function readFaults(text: string | undefined): Faults | undefined {
  if (text === undefined || text === '') return undefined;
  const [list = '', seed, ...rest] = text.split(':');
  const words = list.split(',').map((word) => word.trim());
  const chosen = new Set<FaultName>();
  for (const word of words) {
    if (word === 'all') for (const name of allNames()) chosen.add(name);
    else if (isName(word)) chosen.add(word);
    else if (word.startsWith('-') && isName(word.slice(1))) chosen.delete(nameOf(word.slice(1)));
    else throw invalid(text);
  }
  if (rest.length > 0 || (seed !== undefined && !/^\d{1,9}$/.test(seed))) throw invalid(text);
  return new Faults([...chosen], seed === undefined ? Math.floor(Math.random() * 1e9) : Number(seed));
}

function allNames(): FaultName[] {
  return Object.keys(faultNames).filter(isName);
}

function isName(word: string): word is FaultName {
  return Object.hasOwn(faultNames, word);
}

function nameOf(word: string): FaultName {
  if (isName(word)) return word;
  throw new Error(`${word} names no behaviour`);
}

function invalid(text: string): FaultsError {
  return new FaultsError(
    `Expected all or names out of ${allNames().join(', ')}, with commas between them and perhaps a colon and a seed of digits at the end, but received ${JSON.stringify(text)}`,
  );
}
