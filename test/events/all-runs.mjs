import { spawn } from 'node:child_process';

// The whole of what `npm test` runs a part of: 200 jobs in chaos and 10,000 deliveries.
const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/events'], {
  stdio: 'inherit',
  env: { LATHE_TEST_RUNS: '200', LATHE_TEST_DELIVERIES: '10000', LATHE_TEST_BREADTH: '1', ...process.env },
});
child.once('exit', (code) => process.exit(code ?? 1));
