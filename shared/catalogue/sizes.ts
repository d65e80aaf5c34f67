import type { EngineCatalogue, EngineResources } from './catalogue.ts';

/** What an operator may choose for an engine, with what AWS takes: for Lambda functions, and for the concurrency of a queue. */
export const sizeRanges = {
  memoryMegabytes: { min: 128, max: 10_240 },
  diskMegabytes: { min: 512, max: 10_240 },
  timeoutSeconds: { min: 30, max: 900 },
  maxConcurrency: { min: 1, max: 1_000 },
} as const;

export type SizeName = keyof typeof sizeRanges;

/** Sizes that a deployment gives its engines in place of those in their catalogues. */
export type ChosenSizes = Record<string, Partial<Pick<EngineResources, SizeName>>>;

/** Encodes chosen sizes for an environment variable. */
export function encodeSizes(chosen: ChosenSizes): string {
  return JSON.stringify(chosen);
}

/** Decodes what `encodeSizes` wrote; without the variable, nothing was chosen. */
export function decodeSizes(text: string | undefined): ChosenSizes {
  return text ? JSON.parse(text) : {};
}

/** Returns a catalogue with the sizes that were chosen for its engine. */
export function withSizes(catalogue: EngineCatalogue, chosen: ChosenSizes): EngineCatalogue {
  const sizes = chosen[catalogue.engine];
  if (!sizes) return catalogue;
  // With its getters: to read the tables of a catalogue takes longer than all else that a function starts with.
  return Object.create(Object.prototype, {
    ...Object.getOwnPropertyDescriptors(catalogue),
    resources: { value: { ...catalogue.resources, ...sizes }, enumerable: true },
  });
}

/** Lambda allocates one core for so much memory. */
const megabytesPerCore = 1769;

/** Returns how many cores a function with so much memory has; those that it sees may be more than it has time on. */
export function coresOf(memoryMegabytes: number, seen: number): number {
  return Math.min(seen, memoryMegabytes / megabytesPerCore);
}
