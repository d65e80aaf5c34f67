import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { dataUri } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

/** Messages are deleted after a job has ended, so its end is no sign that its calls are over. */
const quietMs = 3_000;

/** Counts what one job of an import and a conversion asks of DynamoDB, SQS and S3, but for the polling of queues. */
export async function countCalls(): Promise<[string, number][]> {
  await using stack = await startAlteredStack(() => {});
  const file = dataUri(await twoHalves(64, 64));
  const run = async () => {
    const { id } = await stack.client.createJob({
      import: { operation: 'import/base64', file, filename: 'a.png' },
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
    });
    return id;
  };
  const first = await run();
  await stack.client.waitForJob(first);

  const calls = new Map<string, number>();
  let latest = Date.now();
  const count = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    const [, , service] = request.url?.split('/') ?? [];
    if (!request.url?.startsWith('/_aws/')) return;
    const target = request.headers['x-amz-target'];
    const name = typeof target === 'string' ? `${service} ${target.split('.')[1]}` : `${service} ${request.method}`;
    if (name.endsWith('ReceiveMessage')) return;
    calls.set(name, (calls.get(name) ?? 0) + 1);
    latest = Date.now();
  };
  subscribe('http.server.request.start', count);
  await run();
  await until('the calls have ceased', () => Date.now() > latest + quietMs || undefined);
  unsubscribe('http.server.request.start', count);
  return [...calls].sort(([, left], [, right]) => right - left);
}
