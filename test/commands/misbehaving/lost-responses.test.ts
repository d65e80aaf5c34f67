import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { currentTemplate } from '../../../infra/build/template-cache.ts';
import { startLocalStack } from '../../../infra/local/stack.ts';
import { type FaultName, Faults } from '../../../packages/local-aws/src/faults/faults.ts';
import { Random } from '../../../packages/local-aws/src/faults/random.ts';
import { Client, dataUri, download, filesOf } from '../../support/client.ts';
import { settingsOfTests } from '../../support/running-stack.ts';
import { until } from '../../support/until.ts';

/** Loses one response in five. */
class ManyLost extends Faults {
  readonly #random = new (class extends Random {
    override chance(): boolean {
      return super.chance(0.2);
    }
  })(1);

  override random(name: FaultName): Random | undefined {
    return name === 'lost-responses' ? this.#random : undefined;
  }
}

test('a task whose completion was recorded keeps its files even if the response of the write was lost', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  const stack = await startLocalStack({
    template: await currentTemplate(),
    dataDirectory,
    port: 0,
    missing: { engines: {} },
    environment: { ...settingsOfTests, LATHE_SWEEP_SECONDS: '5' },
    report: () => undefined,
    faults: new ManyLost([], 1),
  });
  try {
    const client = new Client(stack);
    const lost: string[] = [];
    const file = dataUri(Buffer.from('A line.\n'));
    const tasks = {
      import: { operation: 'import/base64', file, filename: 'a.txt' },
      export: { operation: 'export/url', input: 'import' },
    };
    const run = async () => {
      // One call in a hundred loses the responses to all three attempts. The service reports that, and the client
      // retries.
      const id = await until('a job is created', async () => {
        const { status, body } = await client.call<{ id: string }>('POST', '/v1/process/jobs', { tasks });
        if (status !== 201 && status !== 500) lost.push(`creation: ${status} ${JSON.stringify(body)}`);
        return status === 201 ? body.id : undefined;
      });
      const job = await client.waitForJob(id, { seconds: 200, everyMs: 2_000 });
      for (const { url } of filesOf(job, 'export'))
        await download(url).catch((error) => lost.push(`${job.id}: ${String(error).slice(0, 300)}`));
    };
    await Promise.all(Array.from({ length: 12 }, run));
    expect(lost).toEqual([]);
  } finally {
    await stack.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}, 300_000);
