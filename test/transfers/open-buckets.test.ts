import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { synthesize } from '../../infra/build/synth.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { download, filesOf, taskOf } from '../support/client.ts';
import { functionOf, startAlteredStack } from '../support/running-stack.ts';
import { bareBucket } from './own-bucket.ts';

describe.concurrent('A bucket that the operator opened', () => {
  let folder: string;
  let template: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lathe-template-'));
    template = await synthesize(folder, { openBuckets: 'opened, other-one' });
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is written and read without keys, and another is not', async ({ expect }) => {
    await using stack = await startAlteredStack(
      ({ buckets }) => {
        for (const name of ['opened', 'closed'])
          buckets.push({ ...bareBucket, logicalId: name, name, arn: `arn:aws:s3:::${name}` });
      },
      {},
      { template },
    );
    const region = 'us-east-1';

    const job = await stack.client.runJob({
      file: { operation: 'import/base64', file: 'data:text/plain;base64,b3BlbmVk', filename: 'a.txt' },
      out: { operation: 'export/objstore_a', input: 'file', bucket: 'opened', region, key_prefix: 'set/' },
    });
    const back = await stack.client.runJob({
      in: { operation: 'import/objstore_a', bucket: 'opened', region, key_prefix: 'set/' },
    });
    const refused = await stack.client.createJob({
      closed: { operation: 'import/objstore_a', bucket: 'closed', region, key: 'a.txt' },
      own: { operation: 'import/objstore_a', bucket: stack.stack.buckets[0]?.name, region, key: 'a.txt' },
    });
    const ended = await stack.client.waitForJob(refused.id);

    expect(taskOf(job, 'out').result).toMatchObject({ locations: [{ location: 's3://opened/set/a.txt' }] });
    expect((await download(filesOf(back, 'in')[0]?.url ?? '')).toString()).toBe('opened');
    for (const name of ['closed', 'own']) expect(taskOf(ended, name).result.errorCode).toBe('insufficient_permission');
  });

  it('is open to transfers alone, and a pattern opens none', async ({ expect }) => {
    const { functions } = readTemplate({
      template,
      origins: { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' },
      parameters: {},
    });
    const reached = functions.filter(({ role }) =>
      role.statements.some(({ resources }) => resources.some((resource) => resource.startsWith('arn:aws:s3:::opened'))),
    );
    expect(reached).toEqual([functionOf({ functions }, 'functions/transfers/handler.ts')]);
    await expect(synthesize(join(folder, 'pattern'), { openBuckets: '*' })).rejects.toThrow('failed with code 1');
  });
});
