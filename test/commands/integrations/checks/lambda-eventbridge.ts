import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { BusEvent } from '../../../../packages/local-aws/src/eventbridge/event-bus.ts';
import { startStack } from '../../../events/stack.ts';
import { findPythonProgram } from '../../../support/python-program.ts';
import { until } from '../../../support/until.ts';
import { startFileServer } from '../../../transfers/file-server.ts';
import { startS3Store } from '../../../transfers/stores.ts';
import { Example } from '../example.ts';
import { type Check, Missing } from '../tools.ts';

export const check: Check = async (tools) => {
  await using example = new Example('lambda-eventbridge');
  example.installNpm();
  await using stack = await startStack();
  await using store = await startS3Store();
  await using secrets = await startFileServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ SecretString: stack.apiKey }));
  });
  const events: BusEvent[] = [];
  stack.buses.onEvent((event) => events.push(event));
  const note = { operation: 'import/base64', filename: 'größe.txt', file: 'data:text/plain;base64,aGVsbG8=' };
  const tasks = { note, link: { operation: 'export/url', input: 'note' } };
  const { body } = await stack.client.call<{ id: string }>('POST', '/v1/process/jobs', { tag: 'shop', tasks });
  const broken = await stack.client.createJob({
    note: { ...note, filename: 'a.png' },
    webp: { operation: 'convert', input: 'note', output_format: 'webp' },
  });
  const eventOf = (id: string) => until('the end is on the bus', () => events.find((event) => idOf(event) === id));
  const completed = await eventOf(body.id);
  const failed = await eventOf(broken.id);
  const pattern = /EventPattern:\n +source: \[(.+)\]\n +detail-type: \[(.+)\]/.exec(
    readFileSync(join(example.folder, 'template.yaml'), 'utf8'),
  );
  const { access_key_id, secret_access_key, session_token } = store.credentials;
  const invoke = ({ source, detailType, detail }: BusEvent, env: NodeJS.ProcessEnv = {}) => {
    assert.ok(pattern?.[1]?.split(', ').includes(source) && pattern[2]?.split(', ').includes(detailType));
    const event = JSON.stringify({ version: '0', source, 'detail-type': detailType, detail });
    const code = `import { handler } from './index.mjs'; process.stdout.write('\\n' + JSON.stringify(await handler(${event})));`;
    return example.run(process.execPath, ['--input-type=module', '-e', code], {
      env: {
        PATH: process.env.PATH,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: access_key_id,
        AWS_SECRET_ACCESS_KEY: secret_access_key,
        AWS_SESSION_TOKEN: session_token,
        AWS_ENDPOINT_URL_S3: store.endpoint(),
        AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
        LATHE_URL: stack.url,
        KEY_SECRET_ARN: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:lathe-key',
        TARGET_BUCKET: store.bucket,
        TAG: '',
        ...env,
      },
    });
  };
  const copiedBy = ({ status, stdout, stderr }: Awaited<ReturnType<typeof invoke>>) => {
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout.slice(stdout.lastIndexOf('\n'))).copied;
  };

  const key = `jobs/${body.id}/link/größe.txt`;
  for (let time = 0; time < 2; time++) assert.deepEqual(copiedBy(await invoke(completed)), [key]);
  assert.deepEqual(copiedBy(await invoke(completed, { TAG: 'other' })), []);
  assert.deepEqual(copiedBy(await invoke(failed)), []);
  const gone = await invoke(completed, { LATHE_URL: `${stack.url}/wrong` });
  assert.deepEqual(copiedBy(gone), [], 'A job that is gone is no error.');
  const unreachable = await invoke(completed, { LATHE_URL: 'http://127.0.0.1:9' });
  assert.notEqual(unreachable.status, 0, 'EventBridge would not try again.');

  const { Contents = [] } = await store.client.send(new ListObjectsV2Command({ Bucket: store.bucket }));
  assert.deepEqual(
    Contents.map(({ Key }) => Key),
    [key],
  );
  const { Body, ContentType } = await store.client.send(new GetObjectCommand({ Bucket: store.bucket, Key: key }));
  assert.deepEqual([await Body?.transformToString(), ContentType], ['hello', 'text/plain']);

  const lint = findPythonProgram('cfn-lint', '1.58.0');
  if ('missing' in lint) throw new Missing(lint.missing);
  // W3002: the code is a path, for `aws cloudformation package`.
  tools.run(lint.program, ['--ignore-checks', 'W3002', '--', join(example.folder, 'template.yaml')]);
  return 'a result copied once for an event of the bus that came twice, a failed job logged, an error thrown; cfn-lint passes';
};

function idOf({ detail }: BusEvent): string {
  return String(JSON.parse(JSON.stringify(detail)).data.id);
}
