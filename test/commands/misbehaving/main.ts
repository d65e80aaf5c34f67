import { spawnSync } from 'node:child_process';
import { projectRoot } from '../../../infra/bundling.ts';

/**
 * Without kills: a worker that is killed before it has claimed its task leaves the message hidden for six times the
 * function's timeout. The suites below shorten that, and include kills.
 */
const withoutKills = ['test/contract', 'test/faults', 'test/events'];
const withKills = ['test/commands/misbehaving', 'test/faults/chaos.test.ts'];

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Runs files under faults, and returns whether all tests passed. */
function run(files: string[], faults: string): boolean {
  print(`LATHE_LOCAL_FAULTS=${faults}: ${files.join(', ')}`);
  const { status } = spawnSync(
    process.execPath,
    [
      ...['infra/setup/run.mjs', '--tests', 'node_modules/vitest/vitest.mjs', 'run', ...files],
      // Some failures are only repaired by a sweep minutes later.
      ...['--testTimeout', '600000', '--maxWorkers', '2'],
    ],
    {
      cwd: projectRoot,
      stdio: 'inherit',
      env: { ...process.env, LATHE_LOCAL_FAULTS: faults, LATHE_TEST_BREADTH: '1' },
    },
  );
  return status === 0;
}

const [list = 'all', seed = String(Math.floor(Math.random() * 1e9))] = (process.env.LATHE_LOCAL_FAULTS || 'all').split(
  ':',
);
const results = [run(withoutKills, `${list},-kills:${seed}`), run(withKills, `${list}:${seed}`)];
process.exit(results.every(Boolean) ? 0 : 1);
