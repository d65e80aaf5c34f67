import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../infra/bundling.ts';
import { bundle } from '../support/bundle.ts';
import { median } from './table.ts';

export interface ColdStart {
  entry: string;
  /** Bytes of the bundle as it is deployed, and with the SDK inside. */
  deployed: number;
  withSdk: number;
  /** Milliseconds from the start of a process to its first answer, of either bundle, and of a process that does nothing. */
  deployedStart: number;
  withSdkStart: number;
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
  const [deployed, withSdk] = await Promise.all([bundle(entries), bundle(entries, { withSdk: true })]);
  const folder = await mkdtemp(join(await outputFolder(), 'bench-'));
  try {
    const results: ColdStart[] = [];
    for (const entry of entries) {
      const [lean, whole] = [deployed.get(entry), withSdk.get(entry)];
      if (!lean || !whole) throw new Error(`${entry} made no bundle.`);
      const callers = [await writeCaller(folder, lean.code), await writeCaller(folder, whole.code)];
      const times: number[][] = [[], [], []];
      for (let round = 0; round < rounds; round++) {
        for (const [index, args] of [...callers.map((caller) => [caller]), ['-e', '0']].entries())
          times[index]?.push(await timeOf(args));
      }
      const [deployedStart = 0, withSdkStart = 0, emptyStart = 0] = times.map(median);
      results.push({
        entry,
        deployed: lean.code.length,
        withSdk: whole.code.length,
        deployedStart,
        withSdkStart,
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
