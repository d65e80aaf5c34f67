import { expect, test } from 'vitest';
import type { LocalStack } from '../../infra/local/template/model.ts';
import { dataUri, download, filesOf, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { functionOf, startAlteredStack } from '../support/running-stack.ts';

/** Takes one action away from the role of one function, and leaves everything else as the template has it. */
function without(entry: string, action: string): (stack: LocalStack) => void {
  return (stack) => {
    const { role } = functionOf(stack, entry);
    let taken = false;
    for (const statement of role.statements) {
      taken ||= statement.actions.includes(action);
      statement.actions = statement.actions.filter((candidate) => candidate !== action);
    }
    if (!taken) throw new Error(`The role of ${entry} never had ${action}.`);
  };
}

async function pictureJob() {
  return {
    import: { operation: 'import/base64', file: dataUri(await twoHalves(16, 16)), filename: 'a.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  };
}

test('create-job without sqs:SendMessage responds with 500 and a request id, and nothing else is affected', async () => {
  await using stack = await startAlteredStack(without('functions/api/jobs/create-job.ts', 'sqs:SendMessage'));
  const { client, reports } = stack;

  const { status, body } = await client.call('POST', '/v1/process/jobs', { tasks: await pictureJob() });

  expect(status).toBe(500);
  expect(body).toMatchObject({ errorCode: 'internal_error', requestId: expect.stringMatching(/.+/) });
  expect(body.msg).not.toMatch(/sqs|arn:|role/i);
  const denials = reports.filter((line) => line.startsWith('refused: '));
  expect(denials).toEqual([
    expect.stringMatching(
      /^refused: arn:aws:iam::\d+:role\/HttpCreateJobRole\w+ may not sqs:SendMessage on arn:aws:sqs:/,
    ),
  ]);
  expect(reports.join('\n')).toContain(body.requestId);

  const imported = await client.createTask('import/base64', {
    file: dataUri(await twoHalves(16, 16)),
    filename: 'a.png',
  });
  const converted = await client.createTask('convert', { input: imported.id, output_format: 'webp' });
  expect(await client.showTask(imported.id)).toMatchObject({ status: 'completed' });
  expect(await client.waitForTask(converted.id)).toMatchObject({ status: 'completed' });
  expect(reports.filter((line) => line.startsWith('refused: '))).toEqual(denials);
});

test('show-task without dynamodb:GetItem responds with 500, while show-job goes on', async () => {
  await using stack = await startAlteredStack(without('functions/api/tasks/show-task.ts', 'dynamodb:GetItem'));
  const job = await stack.client.runJob(await pictureJob());

  const { status } = await stack.client.call('GET', `/v1/process/tasks/${taskOf(job, 'convert').id}`);

  expect(status).toBe(500);
  expect((await stack.client.showJob(job.id)).status).toBe('completed');
  expect(stack.reports.filter((line) => line.startsWith('refused: '))).toEqual([
    expect.stringMatching(/role\/HttpShowTaskRole\w+ may not dynamodb:GetItem on /),
  ]);
});

test('a link whose function lacks s3:GetObject leads to a refusal by S3', async () => {
  await using stack = await startAlteredStack(without('functions/api/files/download-file.ts', 's3:GetObject'));
  const job = await stack.client.runJob(await pictureJob());

  const response = await fetch(filesOf(job, 'convert')[0]?.url ?? '');

  expect(response.status).toBe(403);
  expect(await response.text()).toContain('<Code>AccessDenied</Code>');
  expect(stack.reports.filter((line) => line.startsWith('refused: '))).toEqual([
    expect.stringMatching(/role\/HttpFileRole\w+ may not s3:GetObject on /),
  ]);
});

test('with the roles of the template as they are, no call of a whole job is refused', async () => {
  await using stack = await startAlteredStack(() => {});
  const job = await stack.client.runJob({
    ...(await pictureJob()),
    export: { operation: 'export/url', input: ['import', 'convert'], archive_multiple_files: true },
  });
  expect((await download(filesOf(job, 'export')[0]?.url ?? '')).subarray(0, 2).toString()).toBe('PK');
  expect(stack.reports.filter((line) => line.startsWith('refused: '))).toEqual([]);
});
