import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import { onlyInBreadth, splitPairs } from '../../support/breadth.ts';
import { known, placeOfFile, runEngine } from './harness.ts';
import { matrix } from './matrix.ts';

const place = placeOfFile();

const canonical = (names: string[]) => names.filter((name) => known.canonical(name) === name);
const inputs = canonical(known.inputs('convert', '*'));
const outputs = canonical(known.outputs('convert', '*'));

/** Sources that between them reach every output, from the one that is made quickest. */
const sources = ['md', 'fodt', 'fods', 'fodp', 'fodg', 'ps', 'pdf', 'xlsx', 'docx', 'txt', 'odg'];

/** Each input once, to an output that is not covered yet if possible, then the remaining outputs. */
function pairs(): [from: string, to: string][] {
  const covered = new Set<string>();
  const chosen = inputs.map((from): [string, string] => {
    const possible = canonical(known.outputs('convert', from));
    // Pictures need a reference of their own, which costs a LibreOffice of its own.
    const cheap = possible.filter((to) => !['png', 'jpg', 'webp', 'tiff', 'svg', 'eps', 'ps'].includes(to));
    const to =
      cheap.find((name) => !covered.has(name)) ?? (cheap.includes('pdf') ? 'pdf' : (cheap[0] ?? possible[0] ?? ''));
    covered.add(to);
    return [from, to];
  });
  const rest = outputs
    .filter((to) => !covered.has(to))
    .map((to): [string, string] => {
      const from = ['pdf', ...sources].find((name) => known.find('convert', name, to) && name !== to) ?? '';
      return [from, to];
    });
  return [...chosen, ...rest];
}

const samples = new Map<string, Promise<string>>();

function sample(format: string): Promise<string> {
  const made = samples.get(format) ?? matrix.sample(format, place.folder);
  samples.set(format, made);
  return made;
}

const { usual, more } = splitPairs(pairs());

describe('each input and each output once', { timeout: 120_000 }, () => {
  it.each(usual)('converts %s to %s', converts);
  it.each(more)('converts %s to %s', onlyInBreadth, converts);

  async function converts(from: string, to: string): Promise<void> {
    const path = await sample(from);
    const start = (await readFile(path)).subarray(0, detectionBytes);
    expect(await detectFormat(known, start, `sample.${from}`)).toBe(from);

    const { outputs: made } = await runEngine(path, from, to);

    const [first] = made;
    expect(first?.name).toMatch(new RegExp(`^sample.*\\.${to}$`));
    await matrix.verify({ path: first?.path ?? '', format: to }, { path, format: from }, 'convert');
  }
});
