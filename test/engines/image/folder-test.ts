import { test as base } from 'vitest';
import { inFolder } from './run-engine.ts';

/** A test with a folder of its own, which is deleted afterwards. */
export const test = base.extend<{ folder: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest finds the fixtures that this one needs by the pattern.
  folder: ({}, use) => inFolder(use),
});
