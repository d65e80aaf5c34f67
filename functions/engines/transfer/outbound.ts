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

/** Checks the address of a store and makes the agents that connect to it: only to addresses that were checked. */
export function agentsFor(endpoint: URL, outbound: Outbound): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  const { allow, resolve } = outbound;
  const port = checkEndpoint(endpoint, outbound);
  const options = { lookup: lookupFunction(port, allow, resolve), keepAlive: true, maxSockets: 16 };
  return { httpAgent: new HttpAgent(options), httpsAgent: new HttpsAgent(options) };
}

/** Checks the address of a store as far as it can be told before a look-up, and returns its port. */
export function checkEndpoint(endpoint: URL, { allow }: Outbound): number {
  try {
    return checkUrl(endpoint, allow).port;
  } catch (error) {
    throw error instanceof AddressRefused ? failed(error.message, error) : error;
  }
}
