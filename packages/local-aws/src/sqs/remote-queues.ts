import { buffer } from 'node:stream/consumers';
import type { LocalQueue } from '../template/model.ts';
import { callJson, relay, send } from '../wire/connection.ts';
import type { Queues } from './queues.ts';

/** Uses another SQS instead of the embedded one, and creates the template's queues there. */
export async function reachQueues(queues: LocalQueue[], region: string, origin: string): Promise<Queues> {
  const urls = new Map<string, string>();
  const call = (operation: string, input: object) =>
    callJson(origin, { version: '1.0', target: 'AmazonSQS', operation, input, region });
  // Dead-letter queues first: they have no redrive policy, and must exist before the queues that name them.
  for (const queue of [...queues].sort((one, other) => redrives(one) - redrives(other))) {
    const { QueueUrl } = await call('CreateQueue', { QueueName: queue.name, Attributes: queue.attributes });
    urls.set(queue.name, String(QueueUrl));
  }
  const urlOf = (name: string): string => {
    const url = urls.get(name);
    if (url === undefined) throw new Error(`There is no queue ${name}`);
    return url;
  };
  return {
    async handle({ headers }, res, body) {
      const { 'content-type': type, 'x-amz-target': target, authorization } = headers;
      const input = JSON.parse(body.toString());
      // The server knows its queues by its own address.
      const name = typeof input.QueueUrl === 'string' ? nameOf(input.QueueUrl) : undefined;
      const QueueUrl = name === undefined ? undefined : (urls.get(name) ?? `${origin}/${name}`);
      const response = await send(origin, {
        method: 'POST',
        path: '/',
        headers: { 'content-type': type, 'x-amz-target': target, authorization },
        body: Buffer.from(JSON.stringify(QueueUrl === undefined ? input : { ...input, QueueUrl })),
      });
      if (!/\.(GetQueueUrl|ListQueues)$/.test(String(target))) return relay(response, res);
      const output = Object(JSON.parse((await buffer(response)).toString()));
      res.statusCode = response.statusCode ?? 502;
      res.setHeader('content-type', 'application/x-amz-json-1.0').end(JSON.stringify(localUrls(output, queues)));
    },
    async send(queueName, body, delaySeconds) {
      const delay = delaySeconds === undefined ? {} : { DelaySeconds: Math.round(delaySeconds) };
      await call('SendMessage', { QueueUrl: urlOf(queueName), MessageBody: body, ...delay });
    },
    // The age of the oldest message is not an attribute of a queue; only CloudWatch has it.
    facts: () => [],
    async close() {},
  };
}

function redrives({ attributes }: LocalQueue): number {
  return attributes.RedrivePolicy === undefined ? 0 : 1;
}

function nameOf(url: string): string {
  return url.split('/').at(-1) ?? '';
}

/** Replaces the queue URLs in a response by those that the functions know. */
function localUrls(output: Record<string, unknown>, queues: LocalQueue[]): Record<string, unknown> {
  const local = (url: unknown) => queues.find(({ name }) => name === nameOf(String(url)))?.url ?? url;
  const { QueueUrl, QueueUrls } = output;
  return {
    ...output,
    ...(QueueUrl === undefined ? {} : { QueueUrl: local(QueueUrl) }),
    ...(Array.isArray(QueueUrls) ? { QueueUrls: QueueUrls.map(local) } : {}),
  };
}
