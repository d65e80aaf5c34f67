import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import { onlyInBreadth, splitPairs } from '../../support/breadth.ts';
import { skipBecause } from '../../support/skip.ts';
import { placeOfFile } from '../document/harness.ts';
import { known, off, runEngine } from './harness.ts';
import { latinSample, matrix } from './matrix.ts';

const place = placeOfFile();

/** Every input once, and between them every output. */
const pairs: [from: string, to: string][] = [
  ['epub', 'mobi'],
  ['mobi', 'azw3'],
  ['azw3', 'fb2'],
  ['fb2', 'lit'],
  ['lit', 'lrf'],
  ['lrf', 'htmlz'],
  ['htmlz', 'txtz'],
  ['txtz', 'docx'],
  ['pdb', 'docx'],
  ['docx', 'epub'],
  ['odt', 'epub'],
  ['rtf', 'epub'],
  ['txt', 'epub'],
  ['pdf', 'epub'],
  ['epub', 'txt'],
  ['epub', 'pdf'],
];

const { usual, more } = splitPairs(pairs);

describe('each input and each output once', { timeout: 120_000, ...skipBecause(off) }, () => {
  it.each(usual)('converts %s to %s', converts);
  it.each(more)('converts %s to %s', off === undefined ? onlyInBreadth : {}, converts);

  async function converts(from: string, to: string): Promise<void> {
    const path = await matrix.sample(from, place.folder);
    expect(await detectFormat(known, (await readFile(path)).subarray(0, detectionBytes), `sample.${from}`)).toBe(from);

    const { outputs } = await runEngine(path, from, to);

    const [first] = outputs;
    expect(first?.name).toBe(`sample.${to}`);
    await matrix.verify({ path: first?.path ?? '', format: to }, { path, format: from }, 'convert');
  }

  it('writes pdb if its character set has all letters', async () => {
    const path = await latinSample('latin.epub', place.folder);

    const { outputs } = await runEngine(path, 'epub', 'pdb');

    await matrix.verify({ path: outputs[0]?.path ?? '', format: 'pdb' }, { path, format: 'epub' }, 'convert');
  }, 120_000);
});
