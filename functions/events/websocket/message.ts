import { randomUUID } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import type { APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import { addConnectedSubscriber } from '../../../shared/aws/stores/account-subscribers.ts';
import { holderOf, isStillValid } from '../../../shared/aws/stores/tokens.ts';
import { defined } from '../../../shared/defined.ts';
import { type Connection, channelsOfSession, dropSubscriber, readConnection, storeConnection } from './connections.ts';
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
import { disconnect, post } from './sockets.ts';
import { SubscriptionRefused, subscribe } from './subscribe.ts';

const logger = new Logger({ serviceName: 'lathe' });

/** Handles a message of a client. */
export async function handleMessage({
  requestContext: { connectionId },
  body = '',
}: APIGatewayProxyWebsocketEventV2): Promise<void> {
  // Pongs are most of the messages of idle connections, and need no records.
  if (body === pongPacket('')) return;
  const connection = await readConnection(connectionId);
  // The key may have been deleted, or the person removed from the account, since it connected.
  if (!connection || (connection.identity && !(await isStillValid(connection.identity)))) {
    await disconnect(connectionId);
    return;
  }
  if (connection.dialect === 'socket.io') await handlePacket(connection, body);
  else await handleText(connection, body);
}

async function handleText(connection: Connection, text: string): Promise<void> {
  const send = (event: string, data: Record<string, string>, channel?: string) =>
    post(connection.id, encode('plain', defined({ event, data, channel })));
  const { action, channel } = readRequest(text);
  if (action === 'ping') {
    await send('pong', {});
  } else if ((action === 'subscribe' || action === 'unsubscribe') && channel !== undefined) {
    const refused = await refusalOf(changeSubscription(connection, action, channel));
    if (refused) await send('error', { errorCode: refused.errorCode, msg: refused.message }, channel);
  } else {
    const msg = 'Expected {"action":"subscribe","channel":"job.<id>"}, with subscribe, unsubscribe or ping as action.';
    await send('error', { errorCode: 'bad_request', msg });
  }
}

/** Returns why a change of subscriptions was refused, or undefined if it was made. */
function refusalOf(change: Promise<void>): Promise<SubscriptionRefused | undefined> {
  return change.then(
    () => undefined,
    (error) => {
      if (error instanceof SubscriptionRefused) return error;
      throw error;
    },
  );
}

async function changeSubscription(
  connection: Connection,
  action: 'subscribe' | 'unsubscribe',
  channel: string,
): Promise<void> {
  if (action === 'subscribe') return subscribe(connection, channel);
  await dropSubscriber(connection, channel);
  if (connection.dialect === 'plain')
    await post(connection.id, encode('plain', { event: 'unsubscribed', channel, data: {} }));
}

async function handlePacket(connection: Connection, text: string): Promise<void> {
  let packet: ClientPacket;
  try {
    packet = readPacket(text);
  } catch (error) {
    if (!(error instanceof BadPacket)) throw error;
    logger.info('invalid packet', { reason: error.message });
    return disconnect(connection.id);
  }
  switch (packet.type) {
    case 'connect':
      return authenticate(connection, packet.namespace, packet.auth);
    case 'event':
      return connection.identity ? handleEvent(connection, packet) : disconnect(connection.id);
    case 'ping':
      await post(connection.id, pongPacket(packet.payload));
      return;
    case 'disconnect':
    case 'close':
      return disconnect(connection.id);
    case 'pong':
    case 'ack':
      return;
  }
}

/** Connects a Socket.IO client to the main namespace, and resumes its subscriptions. */
async function authenticate(connection: Connection, namespace: string, auth: Record<string, unknown>): Promise<void> {
  const refuse = (message: string) => post(connection.id, connectErrorPacket(namespace, message));
  if (namespace !== '/') {
    await refuse('Invalid namespace');
    return;
  }
  const identity = typeof auth.token === 'string' ? await holderOf(auth.token, connection.origin) : undefined;
  if (!identity) {
    await refuse('The access token is missing or invalid: connect with auth: { token: "Bearer <API_KEY>" }.');
    return;
  }
  const former = typeof auth.pid === 'string' ? await channelsOfSession(auth.pid, identity.user) : [];
  // Without channels there is nothing to resume. A new private id tells the client so.
  const session = former.length > 0 && typeof auth.pid === 'string' ? auth.pid : randomUUID();
  const subscribedSince = await addConnectedSubscriber(identity.user);
  const authenticated: Connection = { ...connection, identity, session, subscribedSince };
  await storeConnection(authenticated);
  await post(connection.id, connectPacket(connection.id, session));
  // Refused if the task or job was deleted or has expired, so that it has no more events.
  for (const channel of former) await refusalOf(subscribe(authenticated, channel));
}

async function handleEvent(connection: Connection, packet: Extract<ClientPacket, { type: 'event' }>): Promise<void> {
  const { name, args, ackId } = packet;
  const [channel] = args;
  const acknowledge = async (response: unknown) => {
    if (ackId !== undefined) await post(connection.id, ackPacket(ackId, response));
  };
  if ((name !== 'subscribe' && name !== 'unsubscribe') || typeof channel !== 'string') {
    await acknowledge({ ok: false, errorCode: 'bad_request', msg: 'Emit subscribe or unsubscribe with a channel.' });
    return;
  }
  const refused = await refusalOf(changeSubscription(connection, name, channel));
  if (!refused) return acknowledge({ ok: true, channel });
  const { errorCode, message: msg } = refused;
  await post(connection.id, encode('socket.io', { event: 'error', data: { channel, errorCode, msg } }));
  await acknowledge({ ok: false, channel, errorCode, msg });
}

function readRequest(text: string): { action?: unknown; channel?: string } {
  try {
    const { action, channel } = Object(JSON.parse(text));
    return { action, ...(typeof channel === 'string' ? { channel } : {}) };
  } catch {
    return {};
  }
}
