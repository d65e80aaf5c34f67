import { describe, expect, test } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { compactTables, expandCatalogue } from '../../../functions/catalogue/compact-catalogue.ts';
import { withSizes } from '../../../shared/catalogue/sizes.ts';

describe('a compact catalogue', () => {
  test.for(engineCatalogues.map((catalogue) => [catalogue.engine, catalogue] as const))(
    '(%s) is the same when it is expanded',
    ([, catalogue]) => {
      const { formats: _formats, capabilities: _capabilities, requires, detect, ...head } = catalogue;
      const code = { ...(requires ? { requires } : {}), ...(detect ? { detect } : {}) };
      const tables = compactTables(catalogue);
      expect(expandCatalogue(head, (table) => tables[table], code)).toEqual(catalogue);
    },
  );

  test('is read once, when it is first asked for', () => {
    const { resources } = engineCatalogues[0] ?? expect.fail('No engine.');
    const reads: string[] = [];
    const read = (table: string) => {
      reads.push(table);
      return '[{"ext":"a","mediaType":"text/a"}]';
    };
    const catalogue = expandCatalogue({ engine: 'none', summary: '', resources }, read, {});
    const sized = withSizes(catalogue, { none: { memoryMegabytes: 512 } });
    expect(sized.resources.memoryMegabytes).toBe(512);
    expect(reads).toEqual([]);
    expect(sized.formats).toEqual([{ ext: 'a', mediaType: 'text/a' }]);
    expect(sized.formats).toBe(catalogue.formats);
    expect(reads).toEqual(['formats']);
  });
});
