import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import {
  AddressRefused,
  type AllowedHosts,
  checkUrl,
  connectOptions,
  HostNotFound,
  parseAllowHosts,
  type Resolve,
} from '../../../shared/net/addresses.ts';
import { unexpected } from './checks.ts';
import { EngineError } from './engine.ts';

/** The last byte of the OIDs of SHA-256, SHA-384 and SHA-512, by the bytes of a digest. */
const digestKinds = new Map([
  [32, 1],
  [48, 2],
  [64, 3],
]);
/** A response has a time stamp with a few certificates. */
export const maxTimestampBytes = 16 * 1024;
const timeoutMs = 30_000;

interface Settings {
  signal: AbortSignal;
  allow?: AllowedHosts;
  resolve?: Resolve;
}

/**
 * Asks an authority for a time stamp of a digest, and returns its response as it is. Engines have no network and are not
 * believed: the request is made of a URL by the user, which the outbound policy checks, and of the bytes of a digest.
 */
export async function requestTimestamp(
  url: string,
  digest: Uint8Array,
  { signal, allow = parseAllowHosts(process.env.LATHE_ALLOW_HOSTS), resolve }: Settings,
): Promise<Buffer> {
  const query = timestampQuery(digest);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const target = new URL(url);
    const { hostname, port } = checkUrl(target, allow);
    const { lookup } = await connectOptions(hostname, port, allow, resolve);
    return await post(target, query, { lookup, signal: deadline });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EngineError) throw error;
    const isRefused = error instanceof AddressRefused || error instanceof HostNotFound;
    const reason = isRefused
      ? error.message
      : deadline.aborted
        ? `It did not respond within ${timeoutMs / 1000} seconds.`
        : 'It could not be reached.';
    throw new EngineError(`The time stamp authority cannot be used. ${reason}`, {
      detail: error instanceof Error ? error.message : String(error),
    });
  }
}

/** Returns a TimeStampReq of RFC 3161 that asks for the certificates of the authority. */
export function timestampQuery(digest: Uint8Array): Buffer {
  const kind = digestKinds.get(digest.length);
  if (kind === undefined) throw unexpected('a digest of 32, 48 or 64 bytes', digest.length);
  const algorithm = Buffer.from(`300d060960864801650304020${kind}0500`, 'hex');
  const imprint = [0x30, algorithm.length + 2 + digest.length, ...algorithm, 0x04, digest.length, ...digest];
  const fields = [0x02, 0x01, 0x01, ...imprint, 0x01, 0x01, 0xff];
  return Buffer.from([0x30, fields.length, ...fields]);
}

type Connection = Pick<Awaited<ReturnType<typeof connectOptions>>, 'lookup'> & { signal: AbortSignal };

/** Sends a query. Redirects are not followed. */
function post(url: URL, query: Buffer, { lookup, signal }: Connection): Promise<Buffer> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/timestamp-query',
      'content-length': query.length,
      accept: 'application/timestamp-reply',
      'user-agent': 'Lathe',
    };
    const sent = request(url, { method: 'POST', headers, lookup, signal, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const fail = (reason: string) => {
        response.destroy();
        reject(new EngineError(`The time stamp authority cannot be used. ${reason}`));
      };
      if (response.statusCode !== 200) return fail(`It responded with status ${response.statusCode}.`);
      response
        .on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes > maxTimestampBytes) fail(`Its response is larger than ${maxTimestampBytes} bytes.`);
        })
        .on('end', () => resolve(Buffer.concat(chunks)))
        .on('error', reject);
    });
    sent.on('error', reject).end(query);
  });
}
