import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { io, type Socket } from 'socket.io-client';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  ackPacket,
  BadPacket,
  type ClientPacket,
  connectErrorPacket,
  connectPacket,
  eventPacket,
  openPacket,
  pongPacket,
  readPacket,
} from '../../../functions/events/websocket/socket-io-packets.ts';

describe('packets of clients', () => {
  test.each<[string, ClientPacket]>([
    ['40', { type: 'connect', namespace: '/', auth: {} }],
    ['40{"token":"t"}', { type: 'connect', namespace: '/', auth: { token: 't' } }],
    ['40/admin,{"a":1}', { type: 'connect', namespace: '/admin', auth: { a: 1 } }],
    ['40/admin?x=1,', { type: 'connect', namespace: '/admin', auth: {} }],
    ['41', { type: 'disconnect', namespace: '/' }],
    ['42["subscribe","job.1"]', { type: 'event', namespace: '/', name: 'subscribe', args: ['job.1'] }],
    ['4217["a",{"b":[1]}]', { type: 'event', namespace: '/', name: 'a', args: [{ b: [1] }], ackId: 17 }],
    ['42/n,3["a"]', { type: 'event', namespace: '/n', name: 'a', args: [], ackId: 3 }],
    ['433[]', { type: 'ack', namespace: '/', ackId: 3 }],
    ['2probe', { type: 'ping', payload: 'probe' }],
    ['3', { type: 'pong' }],
    ['1', { type: 'close' }],
  ])('%s is read', (text, packet) => {
    expect(readPacket(text)).toEqual(packet);
  });

  test.each(['', '9', '0{}', '4', '42', '42{}', '42[1]', '42[', '40[]', '40{', '43[]', '44{}', '451-["a"]', '\u0000'])(
    '%j is refused',
    (text) => {
      expect(() => readPacket(text)).toThrow(BadPacket);
    },
  );
});

describe('the real client', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** Serves one namespace with these packets alone, and hands over every packet of the client. */
  async function serve(take: (packet: ClientPacket, socket: WebSocket) => void, openAfterMs = 0): Promise<Socket> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (socket) => {
      setTimeout(() => socket.send(openPacket('sid-1', 420)), openAfterMs);
      socket.on('message', (data) => take(readPacket(data.toString()), socket));
    });
    const { port } = server.address() as AddressInfo;
    const client = io(`http://127.0.0.1:${port}`, {
      transports: ['websocket'],
      path: '/socket.io',
      auth: { token: 'Bearer key' },
      forceNew: true,
    });
    closing.push(() => {
      client.close();
      for (const socket of server.clients) socket.terminate();
      server.close();
    });
    return client;
  }

  const admit = (packet: ClientPacket, socket: WebSocket) => {
    if (packet.type === 'connect') socket.send(connectPacket('sid-1', 'pid-1'));
  };

  test('connects although the open packet comes late, and says who it is', async () => {
    const packets: ClientPacket[] = [];
    const client = await serve((packet, socket) => {
      packets.push(packet);
      admit(packet, socket);
    }, 50);
    await once(client as never, 'connect');
    expect(client.id).toBe('sid-1');
    expect(packets).toEqual([{ type: 'connect', namespace: '/', auth: { token: 'Bearer key' } }]);
  });

  test('hears why it was not let in', async () => {
    const client = await serve((packet, socket) => {
      if (packet.type === 'connect') socket.send(connectErrorPacket('/', 'No such key', { code: 401 }));
    });
    const [error] = await once(client as never, 'connect_error');
    expect(error).toMatchObject({ message: 'No such key', data: { code: 401 } });
  });

  test('emits, is acknowledged, and hears events', async () => {
    const client = await serve((packet, socket) => {
      admit(packet, socket);
      if (packet.type !== 'event') return;
      if (packet.ackId !== undefined) socket.send(ackPacket(packet.ackId, { ok: true, got: packet.args }));
      socket.send(eventPacket('job_started', { id: '1', version: 2, text: '“ü”' }));
    });
    const heard = once(client as never, 'job_started');
    expect(await client.timeout(5_000).emitWithAck('subscribe', 'job.1')).toEqual({ ok: true, got: ['job.1'] });
    expect(await heard).toEqual([{ id: '1', version: 2, text: '“ü”' }]);
  });

  test('responds to a ping, and sends its private id again when it comes back', async () => {
    const packets: ClientPacket[] = [];
    const twice = Promise.withResolvers<void>();
    const client = await serve((packet, socket) => {
      packets.push(packet);
      admit(packet, socket);
      if (packet.type === 'connect' && !('pid' in packet.auth)) socket.send('2');
      if (packet.type === 'pong') socket.terminate();
      if (packet.type === 'connect' && 'pid' in packet.auth) twice.resolve();
    });
    client.io.reconnectionDelay(10);
    await twice.promise;
    expect(packets.map(({ type }) => type)).toEqual(['connect', 'pong', 'connect']);
    expect(packets.at(-1)).toMatchObject({ auth: { token: 'Bearer key', pid: 'pid-1' } });
  });

  test('says that it leaves', async () => {
    const left = Promise.withResolvers<ClientPacket>();
    const client = await serve((packet, socket) => {
      admit(packet, socket);
      if (packet.type === 'disconnect') left.resolve(packet);
    });
    await once(client as never, 'connect');
    client.disconnect();
    expect(await left.promise).toEqual({ type: 'disconnect', namespace: '/' });
  });

  test('is told of a pong as the protocol writes it', () => {
    expect(pongPacket('probe')).toBe('3probe');
  });
});
