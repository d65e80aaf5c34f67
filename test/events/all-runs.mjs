import { spawn } from 'node:child_process';

// The whole of what `npm test` and `npm run test:faults` run a part of: 200 jobs in chaos and 10,000 deliveries.
const files = ['test/events', 'test/faults/chaos.test.ts', 'test/faults/many-deliveries.test.ts'];
const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
  stdio: 'inherit',
  env: { LATHE_TEST_RUNS: '200', LATHE_TEST_DELIVERIES: '10000', LATHE_TEST_BREADTH: '1', ...process.env },
});
child.once('exit', (code) => process.exit(code ?? 1));
