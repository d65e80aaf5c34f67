import { expect, test } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { Catalogue, type EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';

/** Lists the pairs that several engines offer with the same precedence, by any spelling of the formats. */
function ambiguousPairs(engines: EngineCatalogue[]): string[] {
  const catalogue = new Catalogue(engines);
  const owners = new Map<string, Set<string>>();
  for (const { engine, precedence = 0, capabilities } of engines)
    for (const { operation, from, to } of capabilities)
      for (const input of new Set(from.map((ext) => catalogue.canonical(ext))))
        for (const output of new Set(to.map((ext) => catalogue.canonical(ext)))) {
          const pair = `${operation} ${input} to ${output} with precedence ${precedence}`;
          owners.set(pair, (owners.get(pair) ?? new Set()).add(engine));
        }
  return [...owners].flatMap(([pair, names]) => (names.size > 1 ? [`${pair}: ${[...names].sort().join(', ')}`] : []));
}

test('no two engines with the same precedence offer the same pair', () => {
  expect(ambiguousPairs(engineCatalogues)).toEqual([]);
});

test('a pair that two engines offer with the same precedence is reported', () => {
  const doubled = engineCatalogues.map((engine) =>
    engine.engine === 'webpage' ? { ...engine, precedence: 0 } : engine,
  );
  expect(ambiguousPairs(doubled)).toContain('convert html to pdf with precedence 0: document, webpage');
});
