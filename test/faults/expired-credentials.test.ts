import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Faults } from '../../packages/local-aws/src/faults/faults.ts';
import { Random } from '../../packages/local-aws/src/faults/random.ts';
import { startStack } from '../events/stack.ts';
import { formOf, postForm, taskOf } from '../support/client.ts';

const timeoutSeconds = 10;
const spareSeconds = 2;

/** Lambda's credentials last as long as an invocation may take, and hardly longer. */
class Soon extends Random {
  override between(): number {
    return spareSeconds;
  }
}

class SoonExpired extends Faults {
  override random(name: string): Random | undefined {
    return name === 'credentials' ? new Soon(1) : undefined;
  }
}

const uploadSeconds = 3600;

test('a form and the address of a download outlive the credentials of the functions that returned them', async () => {
  await using stack = await startStack(
    {},
    {
      faults: new SoonExpired(['credentials'], 1),
      alter: ({ httpApis }) => {
        for (const route of httpApis.flatMap(({ routes }) => routes)) route.function.timeoutSeconds = timeoutSeconds;
      },
    },
  );
  const { client } = stack;
  const job = await client.createJob({
    note: { operation: 'import/base64', file: 'data:text/plain;base64,aGVsbG8=', filename: 'note.txt' },
    upload: { operation: 'import/upload' },
    link: { operation: 'export/url', input: 'note' },
  });
  const form = formOf(taskOf(job, 'upload'));
  const link = await client.waitForTask(taskOf(job, 'link').id);
  const redirect = await fetch(String(link.result.url), { redirect: 'manual' });
  const address = redirect.headers.get('location') ?? '';
  await pause((timeoutSeconds + spareSeconds + 1) * 1000);

  const posted = await postForm(form, 'note.txt', Buffer.from('hello'));
  expect([posted.status, await posted.text()]).toEqual([204, '']);
  const downloaded = await fetch(address);
  expect([downloaded.status, await downloaded.text()]).toEqual([200, 'hello']);

  const { expiration } = JSON.parse(Buffer.from(form.parameters.Policy ?? '', 'base64').toString());
  const statedMs = Date.parse(expiration) - Date.parse(job.createdAt);
  expect(statedMs).toBeLessThanOrEqual(uploadSeconds * 1000 + 5_000);
  expect(statedMs).toBeGreaterThan((uploadSeconds - 60) * 1000);
});
