import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { projectRoot } from '../../infra/bundling.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';

test('the guide requests the concurrency that the stack uses when every queue is at its maximum', async () => {
  const { functions, queueSources } = readTemplate({
    template: await currentTemplate(),
    origins: { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' },
    parameters: {},
  });
  const atQueues = queueSources.map(({ function: { environment }, maximumConcurrency = Number.NaN }) =>
    // Each worker waits for its engine, which counts as well.
    environment.LATHE_ENGINE === undefined ? maximumConcurrency : 2 * maximumConcurrency,
  );
  const reserved = functions.map(({ reservedConcurrency = 0 }) => reservedConcurrency);
  const sum = [...atQueues, ...reserved].reduce((all, each) => all + each);
  const guide = readFileSync(join(projectRoot, 'docs/deploy.md'), 'utf8');
  expect(guide).toContain(`${sum.toLocaleString('en')} invocations at once`);
});

test('a deployment uses the given settings, not those of the previous one', () => {
  // By default the CDK keeps a stack's existing parameter values, whatever the template's new defaults are.
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  expect(scripts.deploy).toBe('cdk deploy --no-previous-parameters');
});

test('the README lists the sizes of every engine', () => {
  const rows = engineCatalogues.map(({ engine, resources }) => {
    const { memoryMegabytes, diskMegabytes, timeoutSeconds, maxConcurrency } = resources;
    return `| ${[engine, memoryMegabytes, diskMegabytes, timeoutSeconds, maxConcurrency].join(' | ')} |`;
  });
  expect(readFileSync(join(projectRoot, 'README.md'), 'utf8')).toContain(`\n${rows.join('\n')}\n\n`);
});
