import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../../infra/bundling.ts';
import type { ContractTarget } from '../../contract/setup.ts';

/** Runs the contract suite against a deployed API and returns its outcomes. */
export async function runContractSuite(
  { url, apiKey, otherKey }: ContractTarget,
  folder: string,
  only: string | undefined,
): Promise<Map<string, boolean>> {
  const report = join(folder, 'contract.json');
  const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
  const reporter = fileURLToPath(import.meta.resolve('./contract-reporter.ts'));
  const resolver = import.meta.resolve('./resolve-localhost.mjs');
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--project', 'contract', '--reporter', reporter, ...(only === undefined ? [] : ['-t', only])],
    {
      cwd: projectRoot,
      stdio: 'inherit',
      env: {
        ...process.env,
        NODE_OPTIONS: `--import ${resolver}`,
        LATHE_REPORT: report,
        LATHE_CONTRACT_URL: url,
        LATHE_CONTRACT_KEY: apiKey,
        LATHE_CONTRACT_OTHER_KEY: otherKey,
      },
    },
  );
  const killWithParent = () => child.kill();
  process.once('exit', killWithParent);
  await once(child, 'exit');
  process.off('exit', killWithParent);
  const outcomes: Record<string, boolean> = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
  if (Object.keys(outcomes).length === 0) throw new Error('vitest ran no test.');
  return new Map(Object.entries(outcomes));
}
