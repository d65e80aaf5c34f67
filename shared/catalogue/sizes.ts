import { defined } from '../defined.ts';
import type { EngineCatalogue, EngineResources } from './catalogue.ts';

/**
 * Ranges that AWS accepts for the sizes an operator may choose: of Lambda functions, of a queue's concurrency, and of jobs of AWS
 * Batch on Fargate.
 */
export const sizeRanges = {
  memoryMegabytes: { min: 128, max: 10_240 },
  diskMegabytes: { min: 512, max: 10_240 },
  timeoutSeconds: { min: 30, max: 900 },
  maxConcurrency: { min: 1, max: 1_000 },
  batchHours: { min: 0, max: 12 },
  batchConcurrency: { min: 1, max: 100 },
  batchVcpus: { min: 1, max: 16 },
  batchMemoryMegabytes: { min: 2_048, max: 122_880 },
  batchDiskGigabytes: { min: 21, max: 200 },
} as const;

export type SizeName = keyof typeof sizeRanges;

/** The size of an engine's jobs on AWS Batch. Four cores, because new accounts may use six at a time. */
const batchDefaults = {
  batchHours: 0,
  batchConcurrency: 4,
  batchVcpus: 4,
  batchMemoryMegabytes: 16_384,
  batchDiskGigabytes: 200,
} as const satisfies Partial<Record<SizeName, number>>;

/** Returns all sizes of an engine. Without hours on AWS Batch, everything has to fit into one function. */
export function sizesOf(resources: Pick<EngineResources, SizeName>): Record<SizeName, number> {
  const { memoryMegabytes, diskMegabytes, timeoutSeconds, maxConcurrency } = resources;
  return { ...batchDefaults, ...defined(resources), memoryMegabytes, diskMegabytes, timeoutSeconds, maxConcurrency };
}

/** Returns whether an engine can run on AWS Batch. Its jobs have no way to the internet, so an engine that needs one cannot. */
export function mayRunOnBatch({ packaging, network = false }: EngineResources): boolean {
  return packaging === 'image' && !network;
}

/** Sizes that a deployment chooses for its engines instead of those in their catalogues. */
export type ChosenSizes = Record<string, Partial<Pick<EngineResources, SizeName>>>;

const sizeNames = Object.keys(sizeRanges) as SizeName[];

/**
 * Encodes chosen sizes for an environment variable, as `<engine>=<sizes in the order of their ranges, to the base of 36>`. Names
 * of sizes are left out: all variables of a function share 4 KB.
 */
export function encodeSizes(chosen: ChosenSizes): string {
  const list = (sizes: ChosenSizes[string]) => sizeNames.map((name) => sizes[name]?.toString(36) ?? '').join();
  return Object.entries(chosen)
    .map(([engine, sizes]) => `${engine}=${list(sizes)}`)
    .join(' ');
}

/** Decodes what `encodeSizes` wrote; without the variable, nothing was chosen. */
export function decodeSizes(text = ''): ChosenSizes {
  const engines = text.split(' ').filter((each) => each !== '');
  return Object.fromEntries(
    engines.map((each) => {
      const [engine = '', list = ''] = each.split('=');
      const sizes = list.split(',');
      return [
        engine,
        Object.fromEntries(
          sizeNames.flatMap((name, index) => (sizes[index] ? [[name, parseInt(sizes[index], 36)]] : [])),
        ),
      ];
    }),
  );
}

/** Returns a catalogue with the chosen sizes of its engine. */
export function withSizes(catalogue: EngineCatalogue, chosen: ChosenSizes): EngineCatalogue {
  const sizes = chosen[catalogue.engine];
  if (!sizes) return catalogue;
  // Keeps the getters: evaluating a catalogue's tables takes longer than the rest of a function's start.
  return Object.create(Object.prototype, {
    ...Object.getOwnPropertyDescriptors(catalogue),
    resources: { value: { ...catalogue.resources, ...sizes }, enumerable: true },
  });
}

/** Lambda allocates one core per this much memory. */
const megabytesPerCore = 1769;

/** Returns how many cores a function with that much memory has. It may see more than it has time on. */
export function coresOf(memoryMegabytes: number, seen: number): number {
  return Math.min(seen, memoryMegabytes / megabytesPerCore);
}
