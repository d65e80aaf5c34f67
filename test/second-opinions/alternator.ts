import { once } from 'node:events';
import { mkdirSync, mkdtempDisposableSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { startTables } from '../../packages/local-aws/src/dynamodb/tables.ts';
import type { Opinion } from './opinion.ts';
import { findCheckout, findPython, runPytest } from './pytest.ts';

const suite = {
  repository: 'scylladb/scylladb',
  commit: 'f4a4091ca28efb8c06c3422fdaac1d2f02e5614f',
  variable: 'LATHE_ALTERNATOR_TESTS',
  folder: 'test',
};
const packages = ['boto3', 'packaging', 'pytest', 'requests'];

/** The DynamoDB features that the service uses. */
const files = ['condition_expression', 'update_expression', 'gsi', 'key_condition_expression', 'returnvalues', 'batch'];

/** Runs the relevant ones of ScyllaDB's DynamoDB tests against the embedded DynamoDB. */
export async function runAlternatorTests(only: string | undefined): Promise<Opinion> {
  const checkout = findCheckout(suite);
  if ('missing' in checkout) return checkout;
  const python = findPython(packages);
  if ('missing' in python) return python;
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'lathe-alternator-'));
  const folder = temporary.path;
  const data = join(folder, 'data');
  mkdirSync(data);
  await using door = await startDoor(data);
  const outcomes = await runPytest(python.program, {
    suite: checkout.path,
    folder,
    plugins: ['alternator_plugin'],
    args: [
      ...[only === undefined ? '--tb=no' : '--tb=short', ...(only === undefined ? [] : ['-k', only])],
      // ScyllaDB's own settings need plugins that these tests do not.
      ...['--config-file', '/dev/null'],
      ...['--url', `http://127.0.0.1:${door.port}`],
      ...files.map((name) => `test/alternator/test_${name}.py`),
    ],
  });
  return { outcomes, isPartial: only !== undefined };
}

/** Starts the embedded DynamoDB at the root of a port, without the gate, which only knows the template's tables. */
async function startDoor(directory: string): Promise<AsyncDisposable & { port: number }> {
  const tables = await startTables([], directory);
  const server = createServer((req, res) => {
    // The suite checks by GET whether the server is alive.
    if (req.method === 'GET') res.end();
    else void buffer(req).then((body) => tables.handle(req, res, body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await tables.close();
    },
  };
}
