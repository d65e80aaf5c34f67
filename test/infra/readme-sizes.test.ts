import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engineCatalogues } from '../../functions/engines/runtime/catalogues.ts';
import { projectRoot } from '../../infra/bundling.ts';

test('the README lists the sizes of every engine', () => {
  const rows = engineCatalogues.map(({ engine, resources }) => {
    const { memoryMegabytes, diskMegabytes, timeoutSeconds, maxConcurrency } = resources;
    return `| ${[engine, memoryMegabytes, diskMegabytes, timeoutSeconds, maxConcurrency].join(' | ')} |`;
  });
  expect(readFileSync(join(projectRoot, 'README.md'), 'utf8')).toContain(`\n${rows.join('\n')}\n\n`);
});
