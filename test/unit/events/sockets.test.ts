import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const server = createServer(async (req, res) => {
  if (req.url?.includes('silent')) return;
  await pause(250);
  res.end();
});

beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI', `http://127.0.0.1:${port}`);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.resetModules();
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test('more connections than can be posted to at once are all posted to, however long the last one waits', async () => {
  const { post } = await import('../../../functions/events/websocket/sockets.ts');
  const outcomes = await Promise.all(Array.from({ length: 300 }, (_, index) => post(`connection-${index}`, 'text')));
  expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(300);
});

test('a post that gets no response is given up', async () => {
  const { post } = await import('../../../functions/events/websocket/sockets.ts');
  await expect(post('silent', 'text')).rejects.toThrow('3000 ms requestTimeout');
});
