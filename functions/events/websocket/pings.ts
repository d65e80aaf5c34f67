import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import { type Item, type Key, put, query, remove } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import { settings } from '../../wiring/settings.ts';
import { type Dialect, encode } from './dialect.ts';
import { pingPacket } from './socket-io-packets.ts';

/**
 * Connections are pinged in every so many sweeps. API Gateway ends one that carried no message in either direction for ten
 * minutes; eight leave time for a sweep that fails. Frames of WebSocket's own pings are no messages.
 */
export const sweepsBetweenPings = 8;
/** How often a connection is pinged. */
export const pingSeconds = sweepsBetweenPings * settings.sweepSeconds;

/** Clients of Socket.IO respond to each ping, by a message that counts against the rate of the stage. */
const pingsAtOnce = 50;
const betweenMs = 500;
/** With more connections than fit the pace above, a sweep still has to end before the next. */
const maxSteps = 80;

/** One partition, since new connections are limited to 500 a second: reading more of them would cost an idle deployment. */
const pk = `${partitions.pinged}all`;
const pingedKey = (connection: string): Key => ({ pk, sk: connection });

/** Notes that a connection is to be pinged, until that time in seconds. */
export async function notePinged(connection: string, dialect: Dialect, ttl: number): Promise<void> {
  await put({ ...pingedKey(connection), dialect, ttl });
}

/** Notes that a connection is no more to be pinged. */
export async function forgetPinged(connection: string): Promise<void> {
  await remove(pingedKey(connection));
}

/** Pings all connections, and returns how many there were. */
export async function pingConnections(logger: Logger): Promise<number> {
  const all = await query({ keys: 'pk = :pk', values: { ':pk': pk }, consistent: false });
  const atOnce = Math.max(pingsAtOnce, Math.ceil(all.length / maxSteps));
  for (let index = 0; index < all.length; index += atOnce) {
    if (index > 0) await pause(betweenMs);
    await Promise.all(all.slice(index, index + atOnce).map((item) => ping(item, logger)));
  }
  return all.length;
}

async function ping({ sk, dialect }: Item, logger: Logger): Promise<void> {
  const connection = String(sk);
  // Those who speak plain JSON ignore a pong already: it is the response to a ping of theirs.
  const text = dialect === 'socket.io' ? pingPacket : encode('plain', { event: 'pong', data: {} });
  try {
    // Most sweeps of most deployments find none, and start without the client of API Gateway.
    const { post } = await import('./sockets.ts');
    if ((await post(connection, text)) === 'gone') await forgetPinged(connection);
  } catch (error) {
    logger.warn('a connection could not be pinged', { connection, error });
  }
}
