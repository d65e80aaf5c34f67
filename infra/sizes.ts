import type { Construct } from 'constructs';
import type { EngineCatalogue } from '../shared/catalogue/catalogue.ts';
import { type ChosenSizes, type SizeName, sizeRanges } from '../shared/catalogue/sizes.ts';

interface Preset {
  /** The most memory that a function may have. */
  maxMemoryMegabytes: number;
  /** The most invocations at once of a function that a queue invokes. */
  maxConcurrency: number;
  /** Concurrency reserved for each endpoint that waits; 0 reserves none. */
  waitConcurrency: number;
  /** Whether all engines have one queue and one worker, which imports uploads as well, and waits respond at once. */
  isShared: boolean;
}

/**
 * `small` is for new accounts: their functions get 3,008 MB, and with a concurrency of 10 in all AWS lets them reserve
 * nothing. Two is the least that SQS takes as the maximum of a queue, so there are three: for work, which takes two places more
 * for engines, for events and for webhooks. That leaves two places to requests.
 */
const presets = {
  usual: { maxMemoryMegabytes: 10_240, maxConcurrency: 1_000, waitConcurrency: 100, isShared: false },
  small: { maxMemoryMegabytes: 3_008, maxConcurrency: 2, waitConcurrency: 0, isShared: true },
} as const satisfies Record<string, Preset>;

/** Returns the limits that the context value `preset` names. */
export function presetOf(scope: Construct): Preset {
  const name = String(scope.node.tryGetContext('preset') ?? 'usual');
  if (name === 'usual' || name === 'small') return presets[name];
  throw new Error(`Expected usual or small for preset but received ${name}.`);
}

/** All that functions may reserve of 1,000 concurrent executions: AWS keeps 100 unreserved. */
export const maxWaitConcurrency = 900;

/**
 * Returns how many requests may wait at once at each endpoint that holds them: reserved, and with that limited, so that
 * clients that wait cannot use up the account's concurrency. Undefined where nothing is reserved.
 */
export function waitConcurrency(scope: Construct): number | undefined {
  const given = scope.node.tryGetContext('waitConcurrency');
  const value = given === undefined ? presetOf(scope).waitConcurrency : Number(given);
  if (!Number.isInteger(value) || value < 0 || value > maxWaitConcurrency)
    throw new Error(`Expected an integer from 0 to ${maxWaitConcurrency} for waitConcurrency but received ${given}.`);
  return value === 0 ? undefined : value;
}

/** The most that SQS takes as the maximum of a queue. */
const maxSlots = 1_000;

/**
 * Returns how many workers an engine has at once, and how many of them the long runs of one account may keep busy: all that the
 * engine is given. The rest is a reserve, by which another account gets its turn within seconds.
 */
export function workersOf(maxConcurrency: number): { slots: number; share: number } {
  const reserve = Math.max(1, Math.floor(maxConcurrency / 10));
  const slots = Math.min(maxSlots, maxConcurrency + reserve);
  return { slots, share: slots - reserve };
}

/** Returns the maximum concurrency of a function that a queue invokes, as far as the preset allows it. */
export function queueConcurrency(scope: Construct, usual: number): number {
  return Math.min(usual, presetOf(scope).maxConcurrency);
}

/**
 * Returns the sizes of engines that differ from their catalogues: by the preset, and by context values such as
 * `media.memoryMegabytes`, which win. Throws for a name or a value that would do nothing, or that AWS refuses.
 */
export function chosenSizes(scope: Construct, catalogues: EngineCatalogue[]): ChosenSizes {
  const given = givenSizes(scope, catalogues);
  const preset = presetOf(scope);
  const chosen = catalogues.map(({ engine, resources }) => {
    const wanted = {
      memoryMegabytes: Math.min(resources.memoryMegabytes, preset.maxMemoryMegabytes),
      // One less, for the reserve.
      maxConcurrency: Math.min(resources.maxConcurrency, preset.maxConcurrency - 1),
      ...given[engine],
    };
    const changed = Object.entries(wanted).filter(([name, value]) => isSize(name) && resources[name] !== value);
    return [engine, Object.fromEntries(changed)] as const;
  });
  return Object.fromEntries(chosen.filter(([, sizes]) => Object.keys(sizes).length > 0));
}

function givenSizes(scope: Construct, catalogues: EngineCatalogue[]): ChosenSizes {
  const context: Record<string, unknown> = scope.node.getAllContext();
  const given: ChosenSizes = {};
  for (const [key, text] of Object.entries(context)) {
    const [, engine = '', name = ''] = /^([a-z]+)\.([a-zA-Z]+)$/.exec(key) ?? [];
    if (engine === '') continue;
    if (!catalogues.some((catalogue) => catalogue.engine === engine) || !isSize(name))
      throw new Error(
        `Expected an engine and one of ${Object.keys(sizeRanges).join(', ')} in a context value but received ${key}.`,
      );
    given[engine] = { ...given[engine], [name]: sizeOf(key, name, text) };
  }
  return given;
}

function sizeOf(key: string, name: SizeName, text: unknown): number {
  const { min, max } = sizeRanges[name];
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new Error(`Expected an integer from ${min} to ${max} for ${key} but received ${text}.`);
  return value;
}

function isSize(name: string): name is SizeName {
  return Object.hasOwn(sizeRanges, name);
}
