import type { EngineCatalogue, EngineResources } from './catalogue.ts';

/** Ranges that AWS accepts for the sizes an operator may choose: of Lambda functions, and of a queue's concurrency. */
export const sizeRanges = {
  memoryMegabytes: { min: 128, max: 10_240 },
  diskMegabytes: { min: 512, max: 10_240 },
  timeoutSeconds: { min: 30, max: 900 },
  maxConcurrency: { min: 1, max: 1_000 },
} as const;

export type SizeName = keyof typeof sizeRanges;

/** Sizes that a deployment chooses for its engines instead of those in their catalogues. */
export type ChosenSizes = Record<string, Partial<Pick<EngineResources, SizeName>>>;

/** Encodes chosen sizes for an environment variable. */
export function encodeSizes(chosen: ChosenSizes): string {
  return JSON.stringify(chosen);
}

/** Decodes what `encodeSizes` wrote; without the variable, nothing was chosen. */
export function decodeSizes(text: string | undefined): ChosenSizes {
  return text ? JSON.parse(text) : {};
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
