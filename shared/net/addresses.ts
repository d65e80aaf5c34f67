import { promises as dns, type LookupAddress } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';

/**
 * The outbound policy: the only file that decides which user-supplied addresses may be reached. Imports, exports,
 * webhooks and every request of a web page go through it.
 */

export interface CheckedAddress {
  address: string;
  family: 4 | 6;
}

/** Hosts that the operator exempts from the policy: `host` for any port, or `host:port`. */
export type AllowedHosts = ReadonlySet<string>;

/** Resolves all addresses of a name; defaults to the system's resolver. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** A host, address or URL that the policy blocks. The message does not reveal the resolved address. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
  readonly host: string;

  constructor(host: string, reason = notPublic(host)) {
    super(`${JSON.stringify(shortened(host))} ${reason}.`);
    this.host = host;
  }
}

/** Names the setting that allows an address if the service runs on the machine of its user. */
function notPublic(host: string): string {
  const advice = `. To allow it, start the service with LATHE_ALLOW_HOSTS=${shortened(host)}`;
  return `is not a public address, so it cannot be used${process.env.LATHE_LOCAL === 'true' ? advice : ''}`;
}

/** A name that could not be resolved. */
export class HostNotFound extends Error {
  override name = 'HostNotFound';
  readonly host: string;

  constructor(host: string, options: ErrorOptions = {}) {
    super(`The host ${JSON.stringify(shortened(host))} was not found. Check its spelling.`, options);
    this.host = host;
  }
}

// IANA's special-purpose registry, without the globally reachable entries.
const refused4 = blockList('ipv4', [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier NAT, and metadata of some clouds
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // metadata of Azure, under an address that looks public
  '169.254.0.0/16', // link-local, and metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
]);

// Only global unicast is ever public. That excludes loopback, unspecified, IPv4-mapped and -compatible, NAT64
// (64:ff9b::/96 and 64:ff9b:1::/48), unique local (with fd00:ec2::254), link-local, site-local and multicast.
const globalUnicast6 = blockList('ipv6', ['2000::/3']);
const refused6 = blockList('ipv6', [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation
]);

/** Returns whether an address is publicly routable; false for anything that is not an address. */
export function isPublicAddress(ip: string): boolean {
  if (isIPv4(ip)) return !refused4.check(ip);
  // A zone, as in fe80::1%eth0, is only meaningful on this machine.
  if (isIP(ip) !== 6 || ip.includes('%')) return false;
  return globalUnicast6.check(ip, 'ipv6') && !refused6.check(ip, 'ipv6') && !isIsatap(ip);
}

/** Reads `LATHE_ALLOW_HOSTS`: comma-separated `host` or `host:port`, with IPv6 addresses bare or in brackets. */
export function parseAllowHosts(text: string | undefined): AllowedHosts {
  const entries = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return new Set(
    entries.map((entry) => {
      if (isIP(entry)) return normalHost(entry);
      const match = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(entry);
      if (!match?.[1]) throw new Error(`Expected host or host:port in LATHE_ALLOW_HOSTS but received ${entry}.`);
      const host = normalHost(match[1]);
      return match[2] === undefined ? host : `${host}:${Number(match[2])}`;
    }),
  );
}

/** Returns whether the operator exempts a host, or this port of it. */
function isAllowedHost(hostname: string, port: number, allow: AllowedHosts): boolean {
  const host = normalHost(hostname);
  return allow.has(host) || allow.has(`${host}:${port}`);
}

/** Resolves a host whose addresses are all public. Connect to these addresses: a second lookup may return others. */
export async function lookupPublic(
  hostname: string,
  port: number,
  allow: AllowedHosts,
  resolve: Resolve = resolveAll,
): Promise<CheckedAddress[]> {
  const host = normalHost(hostname);
  const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await resolved(host, resolve);
  if (!isAllowedHost(host, port, allow) && !found.every(({ address }) => isPublicAddress(address)))
    throw new AddressRefused(host);
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

/** Returns a `lookup` for node:net, node:http or undici that only returns checked addresses. */
export function lookupFunction(port: number, allow: AllowedHosts, resolve: Resolve = resolveAll): LookupFunction {
  // Node skips the lookup if the host is an address: check URLs with checkUrl, or use connectOptions.
  return (hostname, options, callback) => {
    lookupPublic(hostname, port, allow, resolve).then(
      (addresses) => respond(addresses, options, callback),
      (error: NodeJS.ErrnoException) => callback(error, options.all ? [] : '', 0),
    );
  };
}

export interface CheckedConnection {
  host: string;
  port: number;
  lookup: LookupFunction;
  autoSelectFamily: boolean;
}

/** Checks a host and returns options for `net.connect` or `tls.connect` that use the checked addresses without another lookup. */
export async function connectOptions(
  hostname: string,
  port: number,
  allow: AllowedHosts,
  resolve: Resolve = resolveAll,
): Promise<CheckedConnection> {
  const addresses = await lookupPublic(hostname, port, allow, resolve);
  return {
    host: normalHost(hostname),
    port,
    lookup: (_hostname, options, callback) => respond(addresses, options, callback),
    autoSelectFamily: true,
  };
}

/** Checks a URL before any DNS lookup: its scheme, that it has no credentials, and its host if that is an address. */
export function checkUrl(url: URL, allow: AllowedHosts = new Set()): { hostname: string; port: number } {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new AddressRefused(url.protocol, 'is not a supported URL scheme; use http or https');
  // `http://example.com@10.0.0.1/` looks like a URL of example.com.
  if (url.username !== '' || url.password !== '')
    throw new AddressRefused(url.hostname, 'is given with credentials in the URL, which is not supported');
  const hostname = normalHost(url.hostname);
  if (hostname === '') throw new AddressRefused(url.hostname, 'is not a host');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  // URL parsing has already turned decimal, octal, hexadecimal, short and full-width spellings into plain addresses.
  const isLocal = isIP(hostname) ? !isPublicAddress(hostname) : /(?:^|\.)localhost$/.test(hostname);
  if (isLocal && !isAllowedHost(hostname, port, allow)) throw new AddressRefused(hostname);
  return { hostname, port };
}

async function resolved(host: string, resolve: Resolve): Promise<LookupAddress[]> {
  // A longer name is not valid in DNS, and an empty one is this machine to some resolvers.
  if (host === '' || host.length > 253 || /[\s\0/\\@%]/.test(host)) throw new HostNotFound(host);
  let found: LookupAddress[];
  try {
    found = await resolve(host);
  } catch (error) {
    throw new HostNotFound(host, { cause: error });
  }
  if (found.length === 0) throw new HostNotFound(host);
  return found;
}

function resolveAll(hostname: string): Promise<LookupAddress[]> {
  return dns.lookup(hostname, { all: true, order: 'verbatim' });
}

function respond(
  addresses: CheckedAddress[],
  options: Parameters<LookupFunction>[1],
  callback: Parameters<LookupFunction>[2],
): void {
  const wanted =
    options.family === 4 || options.family === 6
      ? addresses.filter(({ family }) => family === options.family)
      : addresses;
  const [first] = wanted;
  if (options.all) callback(null, wanted);
  else if (first) callback(null, first.address, first.family);
  else callback(Object.assign(new Error('The host has no address of this family.'), { code: 'ENOTFOUND' }), '', 0);
}

function normalHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function shortened(host: string): string {
  return host.length > 80 ? `${host.slice(0, 77)}…` : host;
}

function blockList(family: 'ipv4' | 'ipv6', ranges: string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

/** ISATAP embeds an IPv4 address after 0000:5efe or 0200:5efe in the last 64 bits, under any prefix. */
function isIsatap(ip: string): boolean {
  // URL parsing normalizes every spelling, including the dotted tail, but still abbreviates zeros.
  const normal = new URL(`http://[${ip}]/`).hostname.slice(1, -1);
  const written = normal.split(':').filter((group) => group !== '').length;
  return /^(?:\w+:){4}(?:0|200):5efe:/.test(normal.replace('::', `:${'0:'.repeat(8 - written)}`));
}
