import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';
import type { Opinion } from './opinion.ts';
import { dynamodbLocal } from './parts/dynamodb-local.ts';
import { elasticmq } from './parts/elasticmq.ts';
import { type RunningServer, startServer } from './parts/server.ts';
import { versitygw } from './parts/versitygw.ts';

const parts = { dynamodb: dynamodbLocal, s3: versitygw, sqs: elasticmq };

/** Runs the contract suite over third-party servers behind the gate, all of them or a named one. */
export async function runOverParts(only: string | undefined): Promise<Opinion> {
  const chosen = Object.entries(parts).filter(([name]) => only === undefined || name === only);
  if (chosen.length === 0)
    throw new Error(`Expected one of ${Object.keys(parts).join(', ')} but received ${JSON.stringify(only)}.`);
  const folder = mkdtempSync(join(tmpdir(), 'lathe-parts-'));
  await using servers = new AsyncDisposableStack();
  servers.defer(() => rmSync(folder, { recursive: true, force: true }));
  const env: Record<string, string> = {};
  for (const [name, { title, replaces, variable, prepare }] of chosen) {
    print(`${title} instead of the embedded ${replaces}`);
    const home = join(folder, name);
    mkdirSync(home);
    const command = prepare(home);
    if ('missing' in command) {
      print(`  left out: ${command.missing}`);
      continue;
    }
    const started: RunningServer = servers.use(await startServer(command));
    env[variable] = started.address;
  }
  if (Object.keys(env).length === 0) return { missing: 'none of the servers is available here' };
  return { outcomes: await runContract(join(folder, 'report.json'), env), isPartial: false };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs the contract suite and returns its outcomes. */
async function runContract(report: string, env: Record<string, string>): Promise<Map<string, boolean>> {
  const child = spawn(
    process.execPath,
    [
      ...['infra/setup/run.mjs', '--tests', 'node_modules/vitest/vitest.mjs', 'run', '--project', 'contract'],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    ],
    { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, ...env } },
  );
  const [code] = await once(child, 'exit');
  if (!existsSync(report)) throw new Error('The contract suite ran no test.');
  const outcomes = readReport(readFileSync(report, 'utf8'));
  if (code !== 0 && [...outcomes.values()].every(Boolean))
    throw new Error('The contract suite failed outside of its tests.');
  return outcomes;
}

interface Report {
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}

function readReport(text: string): Map<string, boolean> {
  const { testResults }: Report = JSON.parse(text);
  const outcomes = new Map<string, boolean>();
  for (const { name: file, assertionResults } of testResults) {
    for (const { fullName, status } of assertionResults) {
      if (status !== 'passed' && status !== 'failed') continue;
      const name = `${basename(file, '.test.ts')}: ${fullName}`;
      outcomes.set(outcomes.has(name) ? `${name} (${outcomes.size})` : name, status === 'passed');
    }
  }
  return outcomes;
}
