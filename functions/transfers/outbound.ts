import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import {
  AddressRefused,
  type AllowedHosts,
  checkUrl,
  lookupFunction,
  type Resolve,
} from '../../shared/net/addresses.ts';
import { failed } from './failures.ts';

/** The outbound policy of transfers. */
export interface Outbound {
  allow: AllowedHosts;
  /** Resolves names instead of the system's resolver. */
  resolve?: Resolve;
}

/** Bytes of an export that a store has accepted so far. */
export interface Taken {
  bytes: number;
}

/**
 * Checks the URL of a store and returns agents that only connect to checked addresses. With a timeout, for exports, idle
 * connections are closed; imports read at their own pace. With `taken`, counts the bytes that the store accepts.
 */
export function agentsFor(
  endpoint: URL,
  outbound: Outbound,
  { idleTimeoutMs, taken }: { idleTimeoutMs?: number; taken?: Taken | undefined } = {},
): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  const { allow, resolve } = outbound;
  const port = checkEndpoint(endpoint, outbound);
  const options = {
    lookup: lookupFunction(port, allow, resolve),
    keepAlive: true,
    maxSockets: 16,
    ...(idleTimeoutMs === undefined ? {} : { timeout: idleTimeoutMs }),
  };
  return { httpAgent: watched(new HttpAgent(options), taken), httpsAgent: watched(new HttpsAgent(options), taken) };
}

/** Makes an agent close idle connections. By default that is left to each request, and libraries do not do it. */
function watched<T extends HttpAgent>(agent: T, taken: Taken | undefined): T {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (...given) => {
    const socket = createConnection(...given);
    if (socket && taken) countWrites(socket, taken);
    return socket?.on('timeout', () => {
      socket.destroy(Object.assign(new Error('The connection was idle.'), { code: 'ETIMEDOUT' }));
    });
  };
  return agent;
}

/** Size of a single write, so that progress to a slow store is visible. */
const pieceBytes = 64 * 1024;

/**
 * Counts the bytes that the other side accepts on a connection. Libraries write a whole part at once and are notified only
 * when all of it is written, so it is split into smaller writes.
 */
function countWrites(socket: Duplex, taken: Taken): void {
  const write = socket._write.bind(socket);
  // Without _writev, a stream writes its chunks one by one.
  Object.defineProperty(socket, '_writev', { value: undefined });
  socket._write = (chunk: Buffer | string, encoding, done) => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    let offset = 0;
    const next = (error?: Error | null) => {
      if (error || offset >= bytes.length) return done(error);
      const piece = bytes.subarray(offset, offset + pieceBytes);
      offset += piece.length;
      write(piece, 'buffer' as BufferEncoding, (failure) => {
        if (!failure) taken.bytes += piece.length;
        next(failure);
      });
    };
    next();
  };
}

/** Checks the URL of a store before any DNS lookup, and returns its port. */
export function checkEndpoint(endpoint: URL, { allow }: Outbound): number {
  try {
    return checkUrl(endpoint, allow).port;
  } catch (error) {
    throw error instanceof AddressRefused ? failed(error.message, error) : error;
  }
}
