import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataUri, type ErrorBody, type JobView } from '../support/client.ts';
import { until } from '../support/until.ts';
import { type Call, misbehaviours, startReceiver } from './receiver.ts';
import { startStack, type TestStack } from './stack.ts';
import { addUser } from './users.ts';

interface WebhookView {
  id: string;
  url: string;
  events: string[];
  secret?: string;
  disabledAt: string | null;
}

interface DeliveryView {
  id: string;
  event: string;
  job: string;
  status: string;
  attempts: { at: string; status: number | null; latencyMs: number; error?: string }[];
}

let stack: TestStack;

beforeAll(async () => {
  // The receivers of these tests listen on this machine, which the policy would refuse.
  stack = await startStack({ LATHE_ALLOW_HOSTS: '127.0.0.1', LATHE_SWEEP_SECONDS: '2' });
});

afterAll(() => stack[Symbol.asyncDispose]());

const register = (url: string, events?: string[], client = stack.client) =>
  client.create<Required<WebhookView>>('/v1/account/webhooks', { url, ...(events ? { events } : {}) });

const completes = {
  import: { operation: 'import/base64', file: dataUri(Buffer.from('hello')), filename: 'note.txt' },
  export: { operation: 'export/url', input: 'import' },
};

async function deliveriesOf(webhook: string, client = stack.client): Promise<DeliveryView[]> {
  const { status, body } = await client.call<{ docs: DeliveryView[] }>(
    'GET',
    `/v1/account/webhooks/${webhook}/deliveries`,
  );
  expect(status).toBe(200);
  return body.docs;
}

const read = ({ body }: Call): { type: string; data: JobView } => JSON.parse(body);
const remove = (id: string) => stack.client.call('DELETE', `/v1/account/webhooks/${id}`);

async function failingJob(): Promise<JobView> {
  const job = await stack.client.createJob({
    import: { operation: 'import/upload' },
    export: { operation: 'export/url', input: 'import' },
  });
  const canceled = await stack.client.call('POST', `/v1/process/tasks/${job.tasks[0]?.id}/cancel`);
  expect(canceled).toMatchObject({ status: 200 });
  return job;
}

describe('a webhook', () => {
  test('is called for each event it wants, with the job and a signature that the published library accepts', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(200).end());
    const { id, secret } = await register(receiver.url);
    const job = await stack.client.createJob(completes, 'mine');
    const failing = await failingJob();
    const expected = [
      `job.created ${job.id}`,
      `job.completed ${job.id}`,
      `job.created ${failing.id}`,
      `job.failed ${failing.id}`,
    ];
    const got = () => receiver.calls.map((call) => `${read(call).type} ${read(call).data.id}`).sort();
    await until('all calls came', () => (got().length >= 4 ? true : undefined));
    expect(got()).toEqual(expected.sort());
    for (const { body, headers } of receiver.calls)
      expect(() => new Verifier(secret).verify(body, headers)).not.toThrow();
    const completed = receiver.calls.map(read).find(({ type }) => type === 'job.completed');
    expect(completed?.data).toEqual(await stack.client.showJob(job.id));
    await remove(id);
  });

  test('is called for the events it asked for alone, and no more once it is deleted', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(200).end());
    const { id } = await register(receiver.url, ['job.failed']);
    await stack.client.runJob(completes);
    await failingJob();
    await until('the failure is delivered', () => receiver.calls[0]);
    expect((await remove(id)).status).toBe(200);
    const { url } = receiver;
    const sentinel = await register(`${url}?sentinel`, ['job.failed']);
    await failingJob();
    await until('the sentinel is delivered', () => receiver.calls.find(({ path }) => path.includes('sentinel')));
    expect(receiver.calls.map((call) => read(call).type)).toEqual(['job.failed', 'job.failed']);
    await remove(sentinel.id);
    expect((await remove(id)).status).toBe(404);
  });

  test('is listed without its secret', async () => {
    const made = await register('https://receiver.example/hook', ['job.completed']);
    const { body } = await stack.client.call<{ docs: WebhookView[] }>('GET', '/v1/account/webhooks');
    const { secret, ...rest } = made;
    expect(secret).toMatch(/^whsec_/);
    expect(body.docs).toContainEqual(rest);
    await remove(made.id);
  });

  test('that is given with a job receives the events of that job alone, signed with the secret in the response', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(200).end());
    const job = await stack.client.create<JobView & { webhook: { id: string; secret: string } }>('/v1/process/jobs', {
      tasks: completes,
      webhook_url: receiver.url,
    });
    await stack.client.runJob(completes);
    await until('both events are delivered', () => (receiver.calls.length >= 2 ? true : undefined));
    expect(new Set(receiver.calls.map((call) => read(call).data.id))).toEqual(new Set([job.id]));
    for (const { body, headers } of receiver.calls)
      expect(() => new Verifier(job.webhook.secret).verify(body, headers)).not.toThrow();
    const deliveries = await until('both are noted', async () => {
      const found = await deliveriesOf(job.webhook.id);
      return found.every(({ status }) => status === 'delivered') ? found : undefined;
    });
    expect(deliveries.map(({ event }) => event).sort()).toEqual(['job.completed', 'job.created']);
  });

  test.each([
    ['http://10.0.0.1/hook', 'a private address'],
    ['http://169.254.169.254/latest', 'the metadata of a cloud'],
    ['http://localhost:1/hook', 'this machine'],
    ['http://user:pass@example.com/', 'a URL with a password'],
    ['ftp://example.com/', 'another scheme'],
  ])('at %s is refused, since it is %s', async (url) => {
    const single = await stack.client.call<ErrorBody>('POST', '/v1/account/webhooks', { url });
    expect([single.status, Object.keys(single.body.errors ?? {})]).toEqual([400, ['url']]);
    const job = await stack.client.call<ErrorBody>('POST', '/v1/process/jobs', { tasks: completes, webhook_url: url });
    expect([job.status, Object.keys(job.body.errors ?? {})]).toEqual([400, ['webhook_url']]);
  });
});

describe('a receiver', () => {
  test.concurrent.each(Object.entries(misbehaviours))(
    'that %s at first gets every event all the same, and no redirect is followed',
    async (_name, behaviour) => {
      await using receiver = await startReceiver(behaviour);
      const { client } = await addUser(stack);
      const { id, secret } = await register(receiver.url, ['job.completed'], client);
      const job = await client.runJob(completes);
      const delivered = await until('it is delivered', async () => {
        const [delivery] = await deliveriesOf(id, client);
        return delivery?.status === 'delivered' ? delivery : undefined;
      });
      expect(delivered).toMatchObject({ job: job.id, event: 'job.completed' });
      expect(delivered.attempts).toHaveLength(2);
      const [first, second] = delivered.attempts;
      expect(first?.status === null || (first?.status ?? 0) >= 300).toBe(true);
      expect(second?.status).toBe(204);
      const [one, two] = receiver.calls;
      expect(one?.headers['webhook-id']).toBe(two?.headers['webhook-id']);
      expect(one?.body).toBe(two?.body);
      new Verifier(secret).verify(two?.body ?? '', two?.headers ?? {});
    },
  );

  test('that responds with 410 is disabled', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(410).end());
    const { id } = await register(receiver.url, ['job.completed']);
    await stack.client.runJob(completes);
    await until('it is disabled', async () => {
      const { body } = await stack.client.call<{ docs: WebhookView[] }>('GET', '/v1/account/webhooks');
      return body.docs.find((webhook) => webhook.id === id)?.disabledAt ?? undefined;
    });
    const [delivery] = await until('the attempt is noted', async () => {
      const found = await deliveriesOf(id);
      return found[0]?.attempts.length === 1 ? found : undefined;
    });
    expect(delivery).toMatchObject({ status: 'failed', attempts: [{ status: 410 }] });
    const replay = await stack.client.call('POST', `/v1/account/webhooks/${id}/deliveries/${delivery?.id}/replay`);
    expect(replay.status).toBe(409);
    await remove(id);
  });

  test('is sent again what it asks for', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(200).end());
    const { id } = await register(receiver.url, ['job.completed']);
    await stack.client.runJob(completes);
    const [delivery] = await until('it is delivered', async () => {
      const found = await deliveriesOf(id);
      return found[0]?.status === 'delivered' ? found : undefined;
    });
    expect(delivery?.attempts).toMatchObject([{ status: 200, latencyMs: expect.any(Number) }]);
    const path = `/v1/account/webhooks/${id}/deliveries`;
    expect((await stack.client.call('POST', `${path}/${delivery?.id}/replay`)).status).toBe(200);
    await until('it came again', () => (receiver.calls.length === 2 ? true : undefined));
    expect(receiver.calls[0]?.body).toBe(receiver.calls[1]?.body);
    expect((await stack.client.call('POST', `${path}/unknown/replay`)).status).toBe(404);
    await remove(id);
  });
});
