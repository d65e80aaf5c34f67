import { randomUUID } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import type { APIGatewayProxyResultV2, APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import { holderOf } from '../../../shared/aws/tokens.ts';
import { type Connection, channelsOfSession, readConnection, storeConnection } from './connections.ts';
import { encode } from './dialect.ts';
import {
  ackPacket,
  BadPacket,
  type ClientPacket,
  connectErrorPacket,
  connectPacket,
  pongPacket,
  readPacket,
} from './socket-io-packets.ts';
import { hangUp, post } from './sockets.ts';
import { SubscriptionRefused, subscribe, unsubscribe } from './subscribe.ts';

const logger = new Logger({ serviceName: 'lathe' });
const done: APIGatewayProxyResultV2 = { statusCode: 200 };

/** Does what a client asks for, in the dialect it speaks. */
export async function handler(event: APIGatewayProxyWebsocketEventV2): Promise<APIGatewayProxyResultV2> {
  const connection = await readConnection(event.requestContext.connectionId);
  if (!connection) {
    await hangUp(event.requestContext.connectionId);
    return done;
  }
  if (connection.dialect === 'socket.io') await takePacket(connection, event.body ?? '');
  else await takeText(connection, event.body ?? '');
  return done;
}

async function takeText(connection: Connection, text: string): Promise<void> {
  const say = (event: string, data: Record<string, string>, channel?: string) =>
    post(connection.id, encode('plain', { event, data, ...(channel === undefined ? {} : { channel }) }));
  const { action, channel } = readRequest(text);
  if (action === 'ping') {
    await say('pong', {});
  } else if ((action === 'subscribe' || action === 'unsubscribe') && channel !== undefined) {
    try {
      await follow(connection, action, channel);
    } catch (error) {
      if (!(error instanceof SubscriptionRefused)) throw error;
      await say('error', { errorCode: error.errorCode, msg: error.message }, channel);
    }
  } else {
    const msg = 'Expected {"action":"subscribe","channel":"job.<id>"}, with subscribe, unsubscribe or ping as action.';
    await say('error', { errorCode: 'bad_request', msg });
  }
}

async function follow(connection: Connection, action: 'subscribe' | 'unsubscribe', channel: string): Promise<void> {
  if (action === 'subscribe') return subscribe(connection, channel);
  await unsubscribe(connection, channel);
  if (connection.dialect === 'plain')
    await post(connection.id, encode('plain', { event: 'unsubscribed', channel, data: {} }));
}

async function takePacket(connection: Connection, text: string): Promise<void> {
  let packet: ClientPacket;
  try {
    packet = readPacket(text);
  } catch (error) {
    if (!(error instanceof BadPacket)) throw error;
    logger.info('a packet was not understood', { reason: error.message });
    return hangUp(connection.id);
  }
  switch (packet.type) {
    case 'connect':
      return enter(connection, packet.namespace, packet.auth);
    case 'event':
      return connection.identity ? takeEvent(connection, packet) : hangUp(connection.id);
    case 'ping':
      await post(connection.id, pongPacket(packet.payload));
      return;
    case 'disconnect':
    case 'close':
      return hangUp(connection.id);
    case 'pong':
    case 'ack':
      return;
  }
}

/** Lets a client of Socket.IO into the main namespace, and back to the channels it followed before it was cut off. */
async function enter(connection: Connection, namespace: string, auth: Record<string, unknown>): Promise<void> {
  const refuse = (message: string) => post(connection.id, connectErrorPacket(namespace, message));
  if (namespace !== '/') {
    await refuse('Invalid namespace');
    return;
  }
  const identity = typeof auth.token === 'string' ? await holderOf(auth.token) : undefined;
  if (!identity) {
    await refuse('The access token is missing or invalid: connect with auth: { token: "Bearer <API_KEY>" }.');
    return;
  }
  const former = typeof auth.pid === 'string' ? await channelsOfSession(auth.pid, identity.user) : [];
  // Without channels there is nothing to come back to, and a client is told so by another private id.
  const session = former.length > 0 && typeof auth.pid === 'string' ? auth.pid : randomUUID();
  const entered: Connection = { ...connection, identity, session };
  await storeConnection(entered);
  await post(connection.id, connectPacket(connection.id, session));
  for (const channel of former) await resume(entered, channel);
}

async function resume(connection: Connection, channel: string): Promise<void> {
  try {
    await subscribe(connection, channel);
  } catch (error) {
    // What it followed is gone since; the client would hear nothing of it either way.
    if (!(error instanceof SubscriptionRefused)) throw error;
  }
}

async function takeEvent(connection: Connection, packet: Extract<ClientPacket, { type: 'event' }>): Promise<void> {
  const { name, args, ackId } = packet;
  const [channel] = args;
  const acknowledge = async (answer: unknown) => {
    if (ackId !== undefined) await post(connection.id, ackPacket(ackId, answer));
  };
  if ((name !== 'subscribe' && name !== 'unsubscribe') || typeof channel !== 'string') {
    await acknowledge({ ok: false, errorCode: 'bad_request', msg: 'Emit subscribe or unsubscribe with a channel.' });
    return;
  }
  try {
    await follow(connection, name, channel);
    await acknowledge({ ok: true, channel });
  } catch (error) {
    if (!(error instanceof SubscriptionRefused)) throw error;
    const { errorCode, message: msg } = error;
    await post(connection.id, encode('socket.io', { event: 'error', data: { channel, errorCode, msg } }));
    await acknowledge({ ok: false, channel, errorCode, msg });
  }
}

function readRequest(text: string): { action?: unknown; channel?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return {};
    const { action, channel } = Object.fromEntries(Object.entries(value));
    return { action, ...(typeof channel === 'string' ? { channel } : {}) };
  } catch {
    return {};
  }
}
