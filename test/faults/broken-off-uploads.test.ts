import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { download, formOf, postForm } from '../support/client.ts';
import { functionOf, startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

const entry = 'functions/lifecycle/uploaded.ts';

/** Lets a failed message come back at once instead of after the minutes that a large copy may take. */
function withShortTimeout(stack: LocalStack): void {
  const source = stack.queueSources.find(({ function: fn }) => fn === functionOf(stack, entry));
  if (source) source.queue.attributes.VisibilityTimeout = '3';
}

/** Lists what the embedded S3 holds. */
function keysIn(dataDirectory: string): string[] {
  using database = new DatabaseSync(join(dataDirectory, 's3', 'objects.db'), { readOnly: true });
  return database
    .prepare('SELECT key FROM objects ORDER BY key')
    .all()
    .map(({ key }) => String(key));
}

test('an upload that breaks off at any step is finished by the next delivery', async () => {
  await using stack = await startAlteredStack(withShortTimeout);
  const { client, reports } = stack;
  const { role } = functionOf(stack.stack, entry);
  const whole = role.statements;
  const keys = () => keysIn(stack.dataDirectory);
  const content = Buffer.from('the only content');
  // The first starts the function, so that the later ones are handled within the time.
  for (const action of [undefined, 's3:PutObject', 'dynamodb:PutItem', 's3:DeleteObject']) {
    role.statements = whole.map((statement) => ({
      ...statement,
      actions: statement.actions.filter((candidate) => candidate !== action),
    }));
    const task = await client.createTask('import/upload');
    await postForm(formOf(task), 'a.txt', content);
    const wasRefused = () => reports.some((line) => action !== undefined && line.includes(action));
    if (action) await until('the handler was refused', wasRefused);
    role.statements = whole;

    const done = await client.waitForTask(task.id);
    expect(done).toMatchObject({
      status: 'completed',
      result: { files: [{ filename: 'a.txt', size: content.length }] },
    });
    expect(await download(done.result.url ?? ''), action).toEqual(content);
    await until('the posted object is gone', () => keys().every((key) => !key.startsWith('uploads/')));
    expect(keys().filter((key) => key.startsWith(`files/${task.id}/0/`))).toHaveLength(1);
  }
});
