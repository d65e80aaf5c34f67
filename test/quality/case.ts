import { copyFile, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { catalogue } from '../../functions/catalogue/catalogues.ts';
import type { Engine, OutputFile } from '../../functions/engines/runtime/engine.ts';
import { detectFormat, detectionBytes } from '../../shared/catalogue/detect.ts';
import { checkOptions } from '../../shared/catalogue/options.ts';
import type { ProcessingOperation } from '../../shared/operations/operations.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { quietContext } from '../support/sandboxed.ts';

/** One conversion of known content, and what another program than the engine's must find in the output. */
export interface QualityCase {
  /** What is right about the output, as a sentence. */
  name: string;
  /** Makes the inputs in a folder and returns their paths. The names' extensions tell the formats that content does not. */
  input(folder: string): Promise<string | string[]>;
  operation?: ProcessingOperation;
  to: string;
  options?: Record<string, unknown>;
  /** Reads the facts from the outputs. */
  read(outputs: OutputFile[]): Promise<unknown>;
  /** The facts; vitest's matchers, such as `expect.closeTo`, stand for what may vary. */
  expected: unknown;
  /** Warnings that the user sees. Defaults to none. */
  warnings?: unknown[];
  /** Runs in `npm test`, too, and not in `npm run test:quality` alone: one of its kind, and fast. */
  usual?: boolean;
}

/** Returns a case for each output format. */
export function eachTo<To extends string>(
  formats: readonly To[],
  caseOf: (to: To) => Omit<QualityCase, 'to'>,
): QualityCase[] {
  return formats.map((to) => ({ ...caseOf(to), to }));
}

/** Declares a test for each case. */
export function testQuality(cases: QualityCase[]): void {
  const folders: string[] = [];

  afterAll(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  for (const { name, usual, read, expected, warnings = [], ...work } of cases)
    test(name, usual ? {} : onlyInBreadth, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'quality-'));
      folders.push(folder);
      const result = await run(work, folder);
      expect({ facts: await read(result.outputs), warnings: result.warnings ?? [] }).toEqual({
        facts: expected,
        warnings,
      });
    });
}

/** Runs an engine as its function does: inputs under names of ours, options checked and filled in. */
async function run(
  { input, operation = 'convert', to, options = {} }: Omit<QualityCase, 'name' | 'read' | 'expected'>,
  folder: string,
) {
  await mkdir(join(folder, 'made'));
  await mkdir(join(folder, 'in'));
  const made = [await input(join(folder, 'made'))].flat();
  const inputs = await Promise.all(
    made.map(async (source, index) => {
      const path = join(folder, 'in', String(index));
      await copyFile(source, path);
      const name = basename(source);
      const format = await detectFormat(catalogue, (await readFile(path)).subarray(0, detectionBytes), name);
      return { path, name, format, size: (await stat(path)).size };
    }),
  );
  const [from = '', ...others] = inputs.map(({ format }) => format);
  const outputFormat = catalogue.canonical(to);
  const match = catalogue.find(operation, from, outputFormat, others);
  if (!match) throw new Error(`${operation} from ${from} to ${to} is not offered.`);
  const checked = checkOptions(match.capability.options, options);
  if (Object.keys(checked.errors).length > 0) throw new Error(JSON.stringify(checked.errors));
  const { engine }: { engine: Engine } = await import(`../../functions/engines/${match.engine}/run.ts`);
  const result = await engine.run({ operation, inputs, outputFormat, options: checked.values, folder }, quietContext());
  await engine.settle?.();
  return result;
}
