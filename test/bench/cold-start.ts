import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../infra/bundling.ts';
import { bundle } from '../support/bundle.ts';
import { median } from './table.ts';

export interface ColdStart {
  entry: string;
  /** Bytes of the bundle as it is deployed, with the SDK inside, and without it. */
  deployed: number;
  withoutSdk: number;
  /** Milliseconds from the start of a process to its first answer, of either bundle, and of a process that does nothing. */
  deployedStart: number;
  withoutSdkStart: number;
  emptyStart: number;
}

const rounds = 7;
const entries = [
  'functions/api/service/health.ts',
  'functions/api/tasks/show-task.ts',
  'functions/api/jobs/create-job.ts',
];

/** Measures how long API functions take from the start of their process to their first answer. */
export async function benchColdStarts(): Promise<ColdStart[]> {
  const [deployed, withoutSdk] = await Promise.all([bundle(entries), bundle(entries, { withSdk: false })]);
  const folder = await mkdtemp(join(await outputFolder(), 'bench-'));
  try {
    const results: ColdStart[] = [];
    for (const entry of entries) {
      const [whole, lean] = [deployed.get(entry), withoutSdk.get(entry)];
      if (!whole || !lean) throw new Error(`${entry} made no bundle.`);
      const callers = [await writeCaller(folder, whole.code), await writeCaller(folder, lean.code)];
      const times: number[][] = [[], [], []];
      for (let round = 0; round < rounds; round++) {
        for (const [index, args] of [...callers.map((caller) => [caller]), ['-e', '0']].entries())
          times[index]?.push(await timeOf(args));
      }
      const [deployedStart = 0, withoutSdkStart = 0, emptyStart = 0] = times.map(median);
      results.push({
        entry,
        deployed: whole.code.length,
        withoutSdk: lean.code.length,
        deployedStart,
        withoutSdkStart,
        emptyStart,
      });
    }
    return results;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function timeOf(args: string[]): Promise<number> {
  const start = performance.now();
  await promisify(execFile)(process.execPath, args, { env: { AWS_REGION: 'us-east-1', LATHE_TABLE: 'none' } });
  return performance.now() - start;
}

/** Inside the project, where the SDK is found that the runtime of Lambda would bring. */
async function outputFolder(): Promise<string> {
  const folder = join(projectRoot, 'cdk.out');
  await mkdir(folder, { recursive: true });
  return folder;
}

async function writeCaller(parent: string, code: Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(parent, 'function-'));
  const event = {
    headers: { accept: 'application/json' },
    requestContext: { requestId: 'r', http: { method: 'GET', path: '/' } },
    isBase64Encoded: false,
  };
  await writeFile(join(folder, 'index.mjs'), code);
  const caller = join(folder, 'call.mjs');
  // A protected endpoint responds with 401 to this: the whole chain, but no call to a service that is not there.
  await writeFile(
    caller,
    `import { handler } from './index.mjs';
     const { statusCode } = await handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 1000 });
     process.exit(statusCode === 200 || statusCode === 401 ? 0 : 1);`,
  );
  return caller;
}
