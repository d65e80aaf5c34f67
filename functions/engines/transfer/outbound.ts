import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  AddressRefused,
  type AllowedHosts,
  checkUrl,
  lookupFunction,
  parseAllowHosts,
  type Resolve,
} from '../../../shared/net/addresses.ts';
import { failed } from './failures.ts';

/** Where transfers may connect to. */
export interface Outbound {
  allow: AllowedHosts;
  /** Finds the addresses of a name in place of the system's resolver. */
  resolve?: Resolve;
}

/** Returns the policy of this deployment. */
export function deploymentOutbound(): Outbound {
  return { allow: parseAllowHosts(process.env.LATHE_ALLOW_HOSTS) };
}

/**
 * Checks the address of a store and makes the agents that connect to it: only to addresses that were checked. With a
 * time given, a connection on which nothing moves for so long ends; that is for exports, as imports read at their own pace.
 */
export function agentsFor(
  endpoint: URL,
  outbound: Outbound,
  stallMs?: number,
): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  const { allow, resolve } = outbound;
  const port = checkEndpoint(endpoint, outbound);
  const options = {
    lookup: lookupFunction(port, allow, resolve),
    keepAlive: true,
    maxSockets: 16,
    ...(stallMs === undefined ? {} : { timeout: stallMs }),
  };
  return { httpAgent: impatient(new HttpAgent(options)), httpsAgent: impatient(new HttpsAgent(options)) };
}

/** Makes an agent end connections that time out: by itself it leaves that to each request, and libraries forget it. */
function impatient<T extends HttpAgent>(agent: T): T {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (...given) => {
    const socket = createConnection(...given);
    return socket?.on('timeout', () => {
      socket.destroy(Object.assign(new Error('Nothing moved on the connection.'), { code: 'ETIMEDOUT' }));
    });
  };
  return agent;
}

/** Checks the address of a store as far as it can be told before a look-up, and returns its port. */
export function checkEndpoint(endpoint: URL, { allow }: Outbound): number {
  try {
    return checkUrl(endpoint, allow).port;
  } catch (error) {
    throw error instanceof AddressRefused ? failed(error.message, error) : error;
  }
}
