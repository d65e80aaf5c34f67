import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import {
  AddressRefused,
  type AllowedHosts,
  checkUrl,
  connectOptions,
  HostNotFound,
} from '../../../shared/net/addresses.ts';
import type { Attempt } from '../../../shared/webhooks/webhook.ts';

const defaultTimeoutMs = 15_000;

/** Calls a receiver once, at a checked address, without following redirects, with a timeout of 15 seconds. */
export async function callReceiver(
  url: string,
  headers: Record<string, string>,
  body: string,
  allow: AllowedHosts,
  timeoutMs: number = defaultTimeoutMs,
): Promise<Omit<Attempt, 'at'>> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  try {
    const target = new URL(url);
    const { hostname, port } = checkUrl(target, allow);
    const status = await post(target, await connectOptions(hostname, port, allow), headers, body, timeoutMs);
    return { status, latencyMs: elapsed() };
  } catch (error) {
    return { latencyMs: elapsed(), error: explain(error, timeoutMs) };
  }
}

function post(
  url: URL,
  connection: Awaited<ReturnType<typeof connectOptions>>,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = request(
      {
        ...connection,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        // A kept-alive connection would be reused without checking its address.
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          host: url.host,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Lathe-Webhooks/1.0',
          ...headers,
        },
      },
      (response) => {
        resolve(response.statusCode ?? 0);
        // Only the status counts; an endless body must not block the function.
        response.on('error', () => undefined).destroy();
      },
    );
    call.on('error', reject).end(body);
  });
}

function explain(error: unknown, timeoutMs: number): string {
  if (error instanceof AddressRefused || error instanceof HostNotFound) return error.message;
  if (!(error instanceof Error)) return 'The receiver could not be called.';
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return `The receiver did not respond within ${timeoutMs / 1000} seconds.`;
  const code = 'code' in error ? String(error.code) : error.name;
  return `The receiver could not be called: ${code}.`;
}
