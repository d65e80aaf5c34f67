import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { projectRoot } from '../../../../infra/bundling.ts';
import type { Check } from '../tools.ts';

const result = z.object({
  name: z.string(),
  request: z.object({ method: z.string() }),
  response: z.object({ status: z.union([z.number(), z.string()]), data: z.unknown() }),
  assertionResults: z.array(z.object({ status: z.string() })),
});
const report = z.array(z.object({ results: z.array(result) }));

/** Runs the safe requests of the collection with Bruno's command line: reads, one instant conversion and one job. */
export const check: Check = async (tools) => {
  const bruno = tools.npmPackages('bruno', ['@usebruno/cli@4.1.0']);
  const { url, apiKey } = await tools.service();
  const folder = mkdtempSync(join(tmpdir(), 'lathe-collection-'));
  try {
    const printed = tools.run(process.execPath, [join(projectRoot, 'packages/collection/src/main.ts'), folder]);
    const reportFile = join(folder, 'report.json');
    const variables = ['--env', 'Local', '--env-var', `url=${url}`, '--env-var', `key=${apiKey}`];
    const args = ['run', '-r', ...variables, '--tags', 'safe', '--reporter-json', reportFile];
    const cwd = join(folder, 'bruno');
    const run = spawnSync(join(bruno, 'node_modules/.bin/bru'), args, { cwd, encoding: 'utf8' });
    assert.equal(run.status, 0, `${run.stdout}${run.stderr}`);
    const results = report.parse(JSON.parse(readFileSync(reportFile, 'utf8'))).flatMap((one) => one.results);
    for (const { name, assertionResults } of results)
      assert.ok(assertionResults.length > 0 && assertionResults.every(({ status }) => status === 'pass'), name);
    const statusOf = (name: string) => results.find((one) => one.name === name)?.response.status;
    assert.equal(statusOf('Convert files to another format within the request'), 200);
    const waited = results.find(({ name }) => name.startsWith('Wait up to 25 seconds for all tasks'));
    assert.equal(z.object({ status: z.string() }).parse(waited?.response.data).status, 'completed');
    const reads = results.filter(({ request }) => request.method === 'GET').length;
    const all = /^\d+/.exec(printed)?.[0];
    return `${results.length} of ${all} requests sent by Bruno and passed: ${reads} reads, one instant conversion, one job until its end`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
