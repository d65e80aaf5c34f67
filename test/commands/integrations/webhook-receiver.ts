import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { startService } from '../../support/running-stack.ts';
import { until } from '../../support/until.ts';
import type { Started } from './example.ts';

export interface ReceiverOptions {
  port: number;
  /** Starts the receiver, which keeps its data from one start to the next. */
  start(env: NodeJS.ProcessEnv): Promise<Started>;
}

/** Sends events of a service, and forged ones, to the receiver of an example. */
export async function checkReceiver({ port, start }: ReceiverOptions): Promise<string> {
  await using service = await startService({ LATHE_ALLOW_HOSTS: '127.0.0.1' });
  const url = `http://127.0.0.1:${port}/`;
  const { secret } = await service.client.create<{ secret: string }>('/v1/account/webhooks', { url });
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  const receiver = await start(env);
  const file = 'data:text/plain;base64,aGVsbG8=';
  const import1 = { operation: 'import/base64', filename: 'größe.txt', file };

  const done = await service.client.createJob({ note: import1, link: { operation: 'export/url', input: 'note' } });
  const broken = await service.client.createJob({
    note: { ...import1, filename: 'a.png' },
    webp: { operation: 'convert', input: 'note', output_format: 'webp' },
  });

  const links = (output: string) => output.match(new RegExp(`job.completed ${done.id} http\\S+`, 'g')) ?? [];
  await until('the end of the job is handled', () => links(receiver.output()).length > 0, { seconds: 300 });
  await until('its failure is handled', () => receiver.output().includes(`job.failed ${broken.id}`), { seconds: 300 });
  const { body } = await service.client.call<{ docs: { id: string; status: string }[] }>('GET', '/v1/account/webhooks');
  assert.equal(body.docs.length, 1);

  const signed = (key: string, text: string, at: Date, id = 'msg_1') => ({
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign(id, at, text),
  });
  const post = async (headers: Record<string, string>, text: string) =>
    (await fetch(url, { method: 'POST', headers, body: text })).status;
  const now = new Date();
  const event = JSON.stringify({ type: 'job.failed', data: { id: '6af9126dc0830000f25c62d2', result: { msg: 'x' } } });
  const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const genuine = signed(secret, event, now);
  const refusals = {
    'another secret': await post(signed(other, event, now), event),
    'a changed body': await post(genuine, event.replace('failed', 'completed')),
    'an old message': await post(signed(secret, event, new Date(Date.now() - 600_000)), event),
    'a message of the future': await post(signed(secret, event, new Date(Date.now() + 600_000)), event),
    'no signature': await post({ 'content-type': 'application/json' }, event),
    'a malformed signature': await post({ ...genuine, 'webhook-signature': 'v1,!' }, event),
    'a malformed time': await post({ ...genuine, 'webhook-timestamp': 'NaN' }, event),
  };
  for (const [what, status] of Object.entries(refusals)) assert.equal(status, 401, `${what} was not refused`);

  for (let time = 0; time < 3; time++) assert.equal(await post(genuine, event), 204);
  const handled = (output: string) => output.split('6af9126dc0830000f25c62d2').length - 1;
  await until('the event is handled', () => handled(receiver.output()) > 0);
  // A later event is handled after the repeated ones.
  const last = event.replace('62d2', '62d3');
  assert.equal(await post(signed(secret, last, now, 'msg_2'), last), 204);
  await until('the later event is handled', () => receiver.output().includes('6af9126dc0830000f25c62d3'));
  assert.equal(handled(receiver.output()), 1, receiver.output());

  receiver.process.kill('SIGKILL');
  await receiver[Symbol.asyncDispose]();
  const restarted = await start(env);
  assert.equal(await post(genuine, event), 204);
  const third = event.replace('62d2', '62d4');
  assert.equal(await post(signed(secret, third, now, 'msg_3'), third), 204);
  await until('the receiver goes on', () => restarted.output().includes('6af9126dc0830000f25c62d4'));
  assert.equal(handled(restarted.output()), 0, restarted.output());
  return `2 ends of jobs received, ${Object.keys(refusals).length} forged messages refused with 401, 4 repetitions handled once, also after a kill`;
}
