import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { synthesize } from '../../../infra/build/synth.ts';
import { StoredKeys } from '../../../infra/keys/stored-keys.ts';
import { findMissing } from '../../../infra/local/engine-checks.ts';
import { fontVariables } from '../../../infra/local/fonts.ts';
import { newApiKey } from '../../../shared/aws/stores/api-keys.ts';
import { encodeMissing } from '../../../shared/catalogue/missing.ts';
import { newId } from '../../../shared/ids.ts';
import { startReceiver } from '../../events/receiver.ts';
import { cache } from '../cache.ts';
import type { Opinion } from '../opinion.ts';
import { credentials, region } from './account.ts';
import { runContractSuite } from './contract-suite.ts';
import { deploy } from './deploy.ts';
import { checkEvents } from './events-check.ts';
import { findMinistack } from './find-ministack.ts';
import { startMinistack } from './server.ts';
import { checkSignIn } from './sign-in-check.ts';

const log = join(cache, 'ministack.log');

/** Deploys the synthesized template into ministack, and runs the contract suite against it. */
export async function runMinistack(only: string | undefined): Promise<Opinion> {
  const found = findMinistack();
  if ('missing' in found) return found;
  // Ends the processes it started, which are detached from the terminal.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  Object.assign(process.env, await fontVariables());
  const folder = mkdtempSync(join(tmpdir(), 'lathe-ministack-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  // ministack's worker is a CommonJS module, whatever a package.json further up says.
  writeFileSync(join(folder, 'package.json'), '{}');
  try {
    await using receiver = await startReceiver((res) => res.writeHead(204).end());
    await using ministack = await startMinistack(found.program, folder, log);
    // After the end of ministack, which comes first if the command is interrupted.
    process.once('exit', remove);
    print(`ministack is at ${ministack.endpoint}; its log is ${log}`);
    // Its CloudFront does not reach the APIs of API Gateway.
    const template = await synthesize(join(folder, 'assembly'), { page: 'false' });
    const { outputs, resources } = await deploy(ministack.endpoint, template, await parameters(receiver.host), print);
    const { ApiUrl: url, TableName: table, UserPoolId: pool } = outputs;
    if (!url || !table || !pool)
      throw new Error(`Expected ApiUrl, TableName and UserPoolId but received ${JSON.stringify(outputs)}.`);
    const [apiKey, otherKey] = [await addUser(ministack.endpoint, table), await addUser(ministack.endpoint, table)];
    const outcomes = await runContractSuite({ url, apiKey, otherKey }, folder, only);
    const checks =
      only === undefined
        ? [await checkEvents({ url, apiKey }, receiver), await checkSignIn(ministack.endpoint, url, pool)]
        : [];
    for (const [name, passed] of checks.flatMap((found) => [...found])) outcomes.set(name, passed);
    const refusals = readRefusals();
    for (const line of refusals) print(line);
    // Some failures are left to the sweep, and no response reports them.
    outcomes.set('roles lack no permission', refusals.length === 0);
    return { outcomes, isPartial: only !== undefined, resources };
  } finally {
    remove();
  }
}

async function parameters(receiver: string): Promise<Record<string, string>> {
  // As in the suite's own setup: the rate tests see its headers, and the others never reach it.
  return { RatePerMinute: '1000000', AllowHosts: receiver, Missing: encodeMissing(await findMissing()) };
}

/** Creates an API key as `npm run key` does, and returns it. */
async function addUser(endpoint: string, table: string): Promise<string> {
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const apiKey = newApiKey();
  await new StoredKeys(client, table).create(apiKey, { id: newId(), user: newId(), name: 'Tests' });
  return apiKey;
}

function readRefusals(): string[] {
  const lines = readFileSync(log, 'utf8').split('\n');
  return [...new Set(lines.filter((line) => line.startsWith('refused: ')))];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
