import './resolve-localhost.mjs';
import { Webhook as Verifier } from 'standardwebhooks';
import type { startReceiver } from '../../events/receiver.ts';
import { PlainSubscriber, type SocketAddresses, SocketSubscriber, untilReceived } from '../../events/subscribers.ts';
import { Client, dataUri } from '../../support/client.ts';
import { until } from '../../support/until.ts';

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const tasks = {
  import: { operation: 'import/base64', file: dataUri(Buffer.from('hello')), filename: 'note.txt' },
  convert: { operation: 'convert', input: 'import', output_format: 'pdf' },
};

/** Subscribes to a job by WebSocket, Socket.IO and a webhook, and returns which of them received its end. */
export async function checkEvents(
  service: { url: string; apiKey: string },
  receiver: Receiver,
): Promise<Map<string, boolean>> {
  const client = new Client(service);
  const { body: health } = await client.call<{ websocket: SocketAddresses }>('GET', '/health');
  const { id: webhook, secret } = await client.create<{ id: string; secret: string }>('/v1/account/webhooks', {
    url: receiver.url,
    events: ['job.completed'],
  });
  const subscribers = {
    'events: a WebSocket client receives the end of a job': new PlainSubscriber(service, undefined, health.websocket),
    'events: a client of Socket.IO receives the end of a job': new SocketSubscriber(
      service,
      undefined,
      health.websocket,
    ),
  };
  try {
    const { id } = await client.createJob(tasks);
    for (const subscriber of Object.values(subscribers)) subscriber.subscribe(`job.${id}`);
    const outcomes = Object.entries(subscribers).map(
      async ([name, subscriber]) => [name, await succeeds(untilReceived(subscriber, 'job_completed', id))] as const,
    );
    const delivered = until('the webhook is called', () => receiver.calls[0]).then(({ body, headers }) =>
      new Verifier(secret).verify(body, headers),
    );
    return new Map([
      ...(await Promise.all(outcomes)),
      ['events: a webhook is called at the end of a job, with its signature', await succeeds(delivered)],
    ]);
  } finally {
    for (const subscriber of Object.values(subscribers)) subscriber.close();
    await client.call('DELETE', `/v1/account/webhooks/${webhook}`);
  }
}

async function succeeds(check: Promise<unknown>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return false;
  }
}
