import { describe, expect, test } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import {
  decodeMissing,
  describeMissing,
  encodeMissing,
  installAllHint,
  type MissingComponents,
} from '../../../shared/catalogue/missing.ts';

const image = engineCatalogues.filter(({ engine }) => engine === 'image');
const lacking = (manager?: 'apt' | 'brew'): MissingComponents => ({
  ...(manager ? { manager } : {}),
  engines: { image: { gs: '', pdftocairo: '', pdfinfo: '', sharp: 'wrong ELF class' } },
});

describe('what is missing', () => {
  test('passes through the environment unchanged', () => {
    expect(decodeMissing(encodeMissing(lacking('apt')))).toEqual(lacking('apt'));
    expect(decodeMissing(undefined)).toEqual({ engines: {} });
    expect(decodeMissing('')).toEqual({ engines: {} });
  });

  test('leaves room in the 4 KB of variables of a function, with every component missing for a long reason', () => {
    const engines = Object.fromEntries(
      engineCatalogues.map(({ engine, components = {} }) => [
        engine,
        Object.fromEntries(Object.keys(components).map((name) => [name, 'é"\n'.repeat(500)])),
      ]),
    );
    const text = encodeMissing({ manager: 'apt', engines });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
    const names = (missing: MissingComponents) => Object.values(missing.engines).flatMap((parts) => Object.keys(parts));
    expect(names(decodeMissing(text))).toEqual(names({ engines }));
  });

  test('is described with its reason and the command of the system', () => {
    const [engine] = image;
    if (!engine) throw new Error('There is no image engine.');
    expect(describeMissing(engine, lacking('brew'))).toEqual([
      { name: 'gs', reason: 'Ghostscript (gs) is not installed.', hint: 'brew install ghostscript' },
      { name: 'pdftocairo', reason: 'poppler (pdftocairo) is not installed.', hint: 'brew install poppler' },
      { name: 'pdfinfo', reason: 'poppler (pdfinfo) is not installed.', hint: 'brew install poppler' },
      { name: 'sharp', reason: 'sharp cannot be used: wrong ELF class.' },
    ]);
  });

  test.each([
    ['apt', 'To install missing components: sudo apt-get install ghostscript poppler-utils\nAlso not installed: sharp'],
    ['brew', 'To install missing components: brew install ghostscript poppler\nAlso not installed: sharp'],
    [undefined, 'Not installed: Ghostscript, poppler, sharp'],
  ] as const)('is installed with %s in its own words', (manager, hint) => {
    expect(installAllHint(image, lacking(manager))).toBe(hint);
  });

  test('needs no hint where nothing is', () => {
    expect(installAllHint(engineCatalogues, { manager: 'apt', engines: {} })).toBeUndefined();
  });
});
