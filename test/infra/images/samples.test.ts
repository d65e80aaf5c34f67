import { describe, expect, test } from 'vitest';
import { catalogue, engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { samples } from '../../../infra/smoke/samples.ts';

describe('the samples of the images', () => {
  // Several engines may offer a pair. One that another engine converts proves nothing about this engine's image.
  test.each(
    samples.map(
      ({ engine, operation = 'convert', format, outputFormat }) => [engine, operation, format, outputFormat] as const,
    ),
  )('have %s %s %s to %s', (engine, operation, format, outputFormat) => {
    expect(catalogue.find(operation, format, outputFormat)?.engine).toBe(engine);
  });

  test('are of every engine that has an image', () => {
    const engines = engineCatalogues.flatMap(({ engine, resources }) =>
      resources.packaging === 'image' ? engine : [],
    );
    expect([...new Set(samples.map(({ engine }) => engine))].sort()).toEqual(engines.sort());
  });
});
