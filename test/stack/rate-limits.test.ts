import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateImageUrl } from '@imgproxy/imgproxy-node';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { CapacityMeter } from '../../packages/local-aws/src/dynamodb/capacity/meter.ts';
import { sendLimited } from '../support/limited-requests.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { joinService } from '../support/shared-service.ts';
import { until } from '../support/until.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({
    LATHE_RATE_PER_MINUTE: '10',
    LATHE_CREATIONS_PER_MINUTE: '3',
    LATHE_WAITS_PER_MINUTE: '1',
    LATHE_INSTANT_AT_ONCE: '1',
    LATHE_ALLOW_HOSTS: '127.0.0.1',
  });
});
afterAll(() => service.stop());

describe.concurrent('Rate limits', () => {
  it('let exactly as many requests of a key pass in a minute as they allow, over ten instances of a function', async ({
    expect,
  }) => {
    const { passed, refused, others, environments, writeUnits } = await sendLimited(
      { requests: 1_000, environments: 10, limit: 100 },
      new CapacityMeter(),
    );
    expect(others).toEqual([]);
    expect(environments).toBeGreaterThanOrEqual(10);
    // On a machine that takes longer than a minute for them, others pass in the next one.
    expect(passed[0]).toBe(100);
    expect(Math.max(...passed)).toBe(100);
    const minutes = passed.length;
    expect(refused).toBe(1_000 - passed.reduce((sum, each) => sum + each, 0));
    // A request that passes costs one, and each instance learns by itself that there is a period and that it has no tokens left:
    // most requests that are refused cost nothing.
    expect(writeUnits).toBeLessThanOrEqual(minutes * (100 + 2 * environments));
  });

  it('respond with 429 and Retry-After once an account has made its requests of a minute', async ({ expect }) => {
    const { client } = await joinService(service);
    const responses = [];
    for (let request = 0; request < 11; request++) responses.push(await client.call('GET', '/v1/process/tasks'));
    expect(responses.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429]);
    const refused = responses[10];
    expect(refused?.body.errorCode).toBe('too_many_requests');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused?.headers.get('ratelimit-limit')).toBe('10');
    expect(refused?.headers.get('ratelimit-remaining')).toBe('0');
    expect((await fetch(`${service.url}/v1/query/formats`)).status).toBe(200);
  });

  it('hold for the images of a key', async ({ expect }) => {
    const { client } = await joinService(service);
    const sources = [{ host: '127.0.0.1:9' }];
    const { url, key, salt } = await client.create<{ url: string; key: string; salt: string }>(
      '/v1/account/image-keys',
      { name: 'Shop', sources },
    );
    const statuses = [];
    for (let request = 0; request < 11; request++) {
      const value = `http://127.0.0.1:9/${request}.png`;
      const image = generateImageUrl({ endpoint: url, url: { value, displayAs: 'base64' }, options: {}, key, salt });
      statuses.push((await fetch(image)).status);
    }
    expect(statuses.slice(0, 10)).not.toContain(429);
    expect(statuses[10]).toBe(429);
  });

  it('say where the caller stands on every response but that to an invalid key', async ({ expect }) => {
    const { client } = await joinService(service);
    const headersOf = ({ headers }: { headers: Headers }) =>
      ['limit', 'remaining', 'reset', 'retry'].map((name) =>
        headers.get(name === 'retry' ? 'retry-after' : `ratelimit-${name}`),
      );
    const seconds = expect.stringMatching(/^([1-9]|[1-5]\d|60)$/);
    const responses = [
      [200, await client.call('GET', '/v1/process/tasks'), '10', '9'],
      [404, await client.call('GET', `/v1/process/tasks/${'0'.repeat(24)}`), '10', '8'],
      [400, await client.call('GET', '/v1/process/tasks?page=none'), '10', '7'],
      [406, await client.call('GET', '/v1/process/tasks', undefined, { accept: 'text/html' }), '10', '6'],
      [201, await client.call('POST', '/v1/process/import/upload', {}), '3', '2'],
      [400, await client.call('POST', '/v1/process/jobs', '{'), '3', '1'],
      [400, await client.call('POST', '/v1/process/convert', {}), '3', '0'],
      [200, await client.call('GET', '/v1/process/jobs'), '10', '2'],
    ] as const;
    for (const [status, response, limit, remaining] of responses) {
      expect(response.status).toBe(status);
      expect(headersOf(response)).toEqual([limit, remaining, seconds, null]);
    }
    const refused = await client.call('POST', '/v1/process/jobs', { tasks: {} });
    expect(refused).toMatchObject({ status: 429, body: { errorCode: 'too_many_requests' } });
    expect(refused.body.msg).toMatch(/^More than 3 jobs and tasks created in a minute\. Retry in \d+ seconds\.$/);
    expect(headersOf(refused)).toEqual(['3', '0', seconds, seconds]);
    const unknown = await client.call('GET', '/v1/process/tasks', undefined, { authorization: 'Bearer unknown' });
    expect(unknown.status).toBe(401);
    expect(headersOf(unknown)).toEqual([null, null, null, null]);
  });

  it('hold so many waits of an account, and have the others ask again', async ({ expect }) => {
    const { client } = await joinService(service);
    const { id } = await client.createTask('import/upload');
    const wait = () => client.call<{ status: string }>('GET', `/v1/process/tasks/${id}/wait`);
    const done: Awaited<ReturnType<typeof wait>>[] = [];
    // Whichever comes first is held.
    const waits = Promise.all([wait(), wait(), wait()].map(async (each) => void done.push(await each)));
    await until('all but one wait have returned', async () => done.length === 2);
    for (const quick of done) {
      expect(quick).toMatchObject({ status: 200, body: { status: 'processing' } });
      expect(quick.headers.get('retry-after')).toMatch(/^[1-5]$/);
    }
    await client.call('POST', `/v1/process/tasks/${id}/cancel`);
    await waits;
    const held = done.at(-1);
    expect(held?.body.status).toBe('canceled');
    expect(held?.headers.get('retry-after')).toBeNull();
  });

  it('hold instant conversions to their number at once, also one that waits for a slow server', async ({ expect }) => {
    const asked = Promise.withResolvers<void>();
    const slow = createServer(() => asked.resolve()).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const { client } = await joinService(service);
    const convert = (fields: object, seconds: number) =>
      client.instant('convert', JSON.stringify({ output_format: 'pdf', ...fields }), {
        'content-type': 'application/json',
        prefer: `wait=${seconds}`,
      });
    const { port } = slow.address() as AddressInfo;
    const first = convert({ url: `http://127.0.0.1:${port}/a.png` }, 25);
    await asked.promise;
    const second = await convert({ html: '<p>A page</p>' }, 25);

    expect(second.status).toBe(429);
    expect(second.headers.get('retry-after')).toBe('1');
    expect(await second.json()).toMatchObject({ msg: expect.stringContaining('1 instant conversions in progress') });
    slow.close();
    slow.closeAllConnections();
    expect([422, 504]).toContain((await first).status);
    expect((await convert({ html: '<p>A page</p>' }, 25)).status).not.toBe(429);
  });
});
