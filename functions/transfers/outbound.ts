import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import {
  AddressRefused,
  type AllowedHosts,
  checkUrl,
  lookupFunction,
  parseAllowHosts,
  type Resolve,
} from '../../shared/net/addresses.ts';
import { failed } from './failures.ts';

/** Where transfers may connect to. */
export interface Outbound {
  allow: AllowedHosts;
  /** Resolves names in place of the system's resolver. */
  resolve?: Resolve;
}

/** Bytes of an export that a store has accepted so far. */
export interface Taken {
  bytes: number;
}

/** Returns the policy of this deployment. */
export function deploymentOutbound(): Outbound {
  return { allow: parseAllowHosts(process.env.LATHE_ALLOW_HOSTS) };
}

/**
 * Checks the address of a store and returns the agents that connect to it, only to checked addresses. With a
 * timeout, an idle connection is closed; that is for exports, as imports read at their own pace.
 * With `taken`, the bytes of an export that the store accepts are counted.
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

/** Makes an agent close connections that time out: by default it leaves that to each request, and libraries forget it. */
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
 * Counts what the other side accepts of what is written to a connection. Libraries write a part of a file at once, and are
 * notified only when all of it is written: so it is passed on in pieces.
 */
function countWrites(socket: Duplex, taken: Taken): void {
  const write = socket._write.bind(socket);
  // Without it a stream writes its chunks one by one.
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

/** Checks the address of a store as far as possible before a DNS lookup, and returns its port. */
export function checkEndpoint(endpoint: URL, { allow }: Outbound): number {
  try {
    return checkUrl(endpoint, allow).port;
  } catch (error) {
    throw error instanceof AddressRefused ? failed(error.message, error) : error;
  }
}
