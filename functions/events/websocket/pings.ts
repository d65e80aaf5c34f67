import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import { type Item, type Key, put, query, remove } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import { settings } from '../../wiring/settings.ts';
import { type Dialect, encode } from './dialect.ts';
import { pingPacket } from './socket-io-packets.ts';

/**
 * API Gateway closes connections without messages for ten minutes. Pinging every eight leaves time for a failed sweep.
 * Native WebSocket ping frames do not count as messages.
 */
export const sweepsBetweenPings = 8;
/** How often a connection is pinged. */
export const pingSeconds = sweepsBetweenPings * settings.sweepSeconds;

/** Socket.IO clients respond to each ping with a message, which counts against the rate limit of the stage. */
const pingsAtOnce = 50;
const betweenMs = 500;
/** Limits the duration of a sweep with many connections, which has to end before the next. */
const maxSteps = 80;

/** One partition is enough for 500 new connections per second, and cheap to read in an idle deployment. */
const pk = `${partitions.pinged}all`;
const pingedKey = (connection: string): Key => ({ pk, sk: connection });

/** Registers a connection for pings until the given time in seconds. */
export async function notePinged(connection: string, dialect: Dialect, ttl: number): Promise<void> {
  await put({ ...pingedKey(connection), dialect, ttl });
}

/** Stops pinging a connection. */
export async function forgetPinged(connection: string): Promise<void> {
  await remove(pingedKey(connection));
}

/** Pings all connections, and returns their number. */
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
  // Plain JSON clients ignore a pong, which they know as the response to their own pings.
  const text = dialect === 'socket.io' ? pingPacket : encode('plain', { event: 'pong', data: {} });
  try {
    // Loaded on demand, because most sweeps find no connections.
    const { post } = await import('./sockets.ts');
    if ((await post(connection, text)) === 'gone') await forgetPinged(connection);
  } catch (error) {
    logger.warn('a connection could not be pinged', { connection, error });
  }
}
