import type { Construct } from 'constructs';
import type { EngineCatalogue, EngineResources } from '../shared/catalogue/catalogue.ts';
import { type ChosenSizes, mayRunOnBatch, type SizeName, sizeRanges, sizesOf } from '../shared/catalogue/sizes.ts';

interface Preset {
  /** Maximum memory of a function. */
  maxMemoryMegabytes: number;
  /** Maximum concurrency of a function with a queue as its event source. */
  maxConcurrency: number;
  /** Concurrency reserved for each endpoint that waits; 0 reserves none. */
  waitConcurrency: number;
  /** Whether all engines share one queue and one worker, which also imports uploads, and waits respond at once. */
  isShared: boolean;
}

/**
 * `small` is for new accounts: their functions get 3,008 MB, and with a total concurrency of 10 AWS lets them reserve
 * nothing. Two is the minimum of SQS for the maximum concurrency of a queue, so there are three such queues: for work,
 * which takes two more for engines, for events and for webhooks. That leaves two for requests.
 */
const presets = {
  usual: { maxMemoryMegabytes: 10_240, maxConcurrency: 1_000, waitConcurrency: 100, isShared: false },
  small: { maxMemoryMegabytes: 3_008, maxConcurrency: 2, waitConcurrency: 0, isShared: true },
} as const satisfies Record<string, Preset>;

/** Returns the limits of the context value `preset`. */
export function presetOf(scope: Construct): Preset {
  const name = String(scope.node.tryGetContext('preset') ?? 'usual');
  if (name === 'usual' || name === 'small') return presets[name];
  throw new Error(`Expected usual or small for preset but received ${name}.`);
}

/** The maximum that functions may reserve of 1,000 concurrent executions: AWS keeps 100 unreserved. */
export const maxWaitConcurrency = 900;

/**
 * Returns the concurrency reserved for each endpoint with waits. It is also a limit, so that waiting clients cannot use
 * up the account's concurrency. Undefined if nothing is reserved.
 */
export function waitConcurrency(scope: Construct): number | undefined {
  const given = scope.node.tryGetContext('waitConcurrency') ?? undefined;
  const value = given === undefined ? presetOf(scope).waitConcurrency : Number(given);
  if (!Number.isInteger(value) || value < 0 || value > maxWaitConcurrency)
    throw new Error(`Expected an integer from 0 to ${maxWaitConcurrency} for waitConcurrency but received ${given}.`);
  return value === 0 ? undefined : value;
}

/** The SQS limit for the maximum concurrency of a queue. */
const maxSlots = 1_000;

/**
 * Returns how many workers an engine has, and how many of them the long runs of one account may occupy: all but a
 * reserve, which lets other accounts start within seconds.
 */
export function workersOf(maxConcurrency: number): { slots: number; share: number } {
  const reserve = Math.max(1, Math.floor(maxConcurrency / 10));
  const slots = Math.min(maxSlots, maxConcurrency + reserve);
  return { slots, share: slots - reserve };
}

/** Returns the maximum concurrency of a function with a queue as its event source, as far as the preset allows it. */
export function queueConcurrency(scope: Construct, usual: number): number {
  return Math.min(usual, presetOf(scope).maxConcurrency);
}

/**
 * Returns the sizes of engines that differ from their catalogues: by the preset, and by context values such as
 * `media.memoryMegabytes`, which win. Throws for names and values without effect, or that AWS refuses.
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
    const changed = Object.entries(wanted).filter(
      ([name, value]) => isSize(name) && sizesOf(resources)[name] !== value,
    );
    checkBatch(engine, resources, wanted);
    return [engine, Object.fromEntries(changed)] as const;
  });
  return Object.fromEntries(chosen.filter(([, sizes]) => Object.keys(sizes).length > 0));
}

function givenSizes(scope: Construct, catalogues: EngineCatalogue[]): ChosenSizes {
  const context: Record<string, unknown> = scope.node.getAllContext();
  const given: ChosenSizes = {};
  for (const [key, text] of Object.entries(context)) {
    const [, engine = '', name = ''] = /^([a-z]+)\.([a-zA-Z]+)$/.exec(key) ?? [];
    // Null hides a value that is meant for others; see packages/cdk.
    if (engine === '' || text === null) continue;
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

/** Memory of a Fargate task by its vCPUs, in steps. */
const fargateMemory: Record<number, { min: number; max: number; step: number }> = {
  1: { min: 2_048, max: 8_192, step: 1_024 },
  2: { min: 4_096, max: 16_384, step: 1_024 },
  4: { min: 8_192, max: 30_720, step: 1_024 },
  8: { min: 16_384, max: 61_440, step: 4_096 },
  16: { min: 32_768, max: 122_880, step: 8_192 },
};

/** Throws for jobs on AWS Batch that Fargate refuses, or that an engine cannot have. */
function checkBatch(engine: string, resources: EngineResources, wanted: object): void {
  const { batchHours, batchVcpus, batchMemoryMegabytes } = sizesOf({ ...resources, ...wanted });
  if (batchHours === 0) return;
  if (!mayRunOnBatch(resources))
    throw new Error(`Expected no ${engine}.batchHours: the engine needs the internet, which jobs on AWS Batch lack.`);
  const memory = fargateMemory[batchVcpus];
  if (!memory) throw new Error(`Expected 1, 2, 4, 8 or 16 for ${engine}.batchVcpus but received ${batchVcpus}.`);
  const { min, max, step } = memory;
  if (batchMemoryMegabytes < min || batchMemoryMegabytes > max || batchMemoryMegabytes % step !== 0)
    throw new Error(
      `Expected ${min} to ${max} in steps of ${step} for ${engine}.batchMemoryMegabytes with ${batchVcpus} vCPUs but received ${batchMemoryMegabytes}.`,
    );
}

function isSize(name: string): name is SizeName {
  return Object.hasOwn(sizeRanges, name);
}
