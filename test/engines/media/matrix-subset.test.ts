import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { catalogue } from '../../../functions/engines/media/catalogue.ts';
import { mediaFormat } from '../../../functions/engines/media/formats.ts';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import { isBroad, onlyInBreadth, splitPairs } from '../../support/breadth.ts';
import { matrix } from './matrix.ts';
import { makeSamples } from './samples.ts';
import { media, run, testFolder } from './work.ts';

// Each test runs programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
let samples: Map<string, string>;

beforeAll(async () => {
  folder = await testFolder();
  samples = await makeSamples(isBroad ? inputs : usualInputs, folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function sampleOf(format: string): string {
  const path = samples.get(format);
  if (path === undefined) throw new Error(`There is no sample of ${format}.`);
  return path;
}

const canonical = (names: string[]) => [...new Set(names.map((name) => media.canonical(name)))];
const inputs = canonical(media.inputs('convert', '*'));
const outputs = canonical(media.outputs('convert', '*'));

/** Each input once and each output once: outputs are dealt to the inputs that can become them. */
function subset(): [string, string][] {
  const open = new Set(outputs);
  const pairs = inputs.map((input): [string, string] => {
    const reachable = canonical(media.outputs('convert', input));
    const output = reachable.find((name) => open.has(name) && name !== input) ?? reachable[0] ?? '';
    open.delete(output);
    return [input, output];
  });
  for (const output of open) pairs.push([mediaFormat(output).kind === 'audio' ? 'wav' : 'mp4', output]);
  return pairs;
}

const { usual, more } = splitPairs(subset());
const usualInputs = usual.map(([input]) => input);

describe.concurrent('Each format is read once and written once', () => {
  test.each(usual)('%s becomes %s with the same content', keepsContent);
  test.each(more)('%s becomes %s with the same content', onlyInBreadth, keepsContent);

  async function keepsContent(input: string, output: string): Promise<void> {
    // Prepare
    const sample = sampleOf(input);

    // Act
    const { path, outputs: made } = await run('convert', { path: sample, format: input }, output);

    // Assess
    expect(made[0]?.name).toBe(`sample.${media.storedAs(output)}`);
    await matrix.verify({ path, format: output }, { path: sample, format: input }, 'convert');
  }
});

describe('Formats are detected from their content', () => {
  const name = 'A %s is found to be one, under its own and its other names';
  test.each(usualInputs)(name, isFound);
  test.each(inputs.filter((input) => !usualInputs.includes(input)))(name, onlyInBreadth, isFound);

  async function isFound(format: string): Promise<void> {
    // Prepare
    const start = (await readFile(sampleOf(format))).subarray(0, detectionBytes);
    const aliases = catalogue.formats.filter(({ aliasOf }) => aliasOf === format).map(({ ext }) => ext);

    // Act
    const found = await Promise.all([format, ...aliases].map((name) => detectFormat(media, start, `sample.${name}`)));

    // Assess
    expect(new Set(found)).toEqual(new Set([format]));
  }
});
