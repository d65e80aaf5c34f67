import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { mapAtOnce } from '../../../shared/concurrency.ts';
import { type AllowedHosts, checkUrl, connectOptions, parseAllowHosts } from '../../../shared/net/addresses.ts';
import { rasterType } from '../document/guards/pictures.ts';
import type { WorkContext } from '../runtime/engine.ts';
import type { Message } from './message.ts';

const limits = {
  pictures: 200,
  bytesEach: 10 * 1024 ** 2,
  bytes: 60 * 1024 ** 2,
  redirects: 5,
  seconds: 15,
  atOnce: 6,
};

/** Loads the pictures that a message references, from public addresses. What is no picture is left out. */
export async function loadPictures({ body }: Message, { signal }: WorkContext): Promise<Map<string, Buffer>> {
  const allow = parseAllowHosts(process.env.LATHE_ALLOW_HOSTS);
  const pictures = new Map<string, Buffer>();
  const named = new Set(body.flatMap(({ html = '' }) => addressesIn(html)));
  let left = limits.bytes;
  await mapAtOnce([...named].slice(0, limits.pictures), limits.atOnce, async (address) => {
    if (left <= 0) return;
    try {
      const url = new URL(address.startsWith('//') ? `https:${address}` : address);
      const bytes = await load(url, allow, AbortSignal.any([signal, AbortSignal.timeout(limits.seconds * 1000)]));
      left -= bytes.length;
      if (left >= 0 && rasterType(bytes)) pictures.set(address, bytes);
    } catch {
      signal.throwIfAborted();
      // Shown as a picture that is not there, and counted in a warning.
    }
  });
  return pictures;
}

/** Returns the addresses that may be those of pictures. What is loaded in vain is not shown. */
function addressesIn(html: string): string[] {
  const inTags = html.matchAll(/(?:src|background)\s*=\s*(?:"([^"]{1,4000})"|'([^']{1,4000})')/gi);
  const inStyles = html.matchAll(/url\(\s*(?:&quot;|["'])?((?:https?:)?\/\/[^"'()\s&]{1,4000})/gi);
  return [...inTags, ...inStyles]
    .map(([, double, single]) => (double ?? single ?? '').trim().replaceAll('&amp;', '&'))
    .filter((address) => /^(?:https?:)?\/\//i.test(address));
}

async function load(url: URL, allow: AllowedHosts, signal: AbortSignal, redirects = 0): Promise<Buffer> {
  const { hostname, port } = checkUrl(url, allow);
  const { host, lookup } = await connectOptions(hostname, port, allow);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = { host: url.host, accept: 'image/*', 'user-agent': 'Mozilla/5.0' };
  return new Promise((resolve, reject) => {
    const path = `${url.pathname}${url.search}`;
    const options = { agent: false as const, host, port, lookup, path, headers, signal, servername: hostname };
    const outgoing = send(options, (response) => {
      const { statusCode = 0 } = response;
      const { location } = response.headers;
      if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
        response.destroy();
        if (redirects >= limits.redirects || !URL.canParse(location, url.href))
          reject(new Error('There is no picture.'));
        else load(new URL(location, url), allow, signal, redirects + 1).then(resolve, reject);
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response
        .on('data', (chunk: Buffer) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size > limits.bytesEach) response.destroy(new Error('The picture is too large.'));
        })
        .on('error', reject)
        .on('end', () =>
          statusCode === 200 ? resolve(Buffer.concat(chunks)) : reject(new Error(`Status ${statusCode}`)),
        );
    });
    outgoing.on('error', reject).end();
  });
}
