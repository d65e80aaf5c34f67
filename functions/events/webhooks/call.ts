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

const timeoutMs = 15_000;

/** Calls a receiver once: at an address that was checked, following no redirect, for 15 seconds at most. */
export async function callReceiver(
  url: string,
  headers: Record<string, string>,
  body: string,
  allow: AllowedHosts,
  patienceMs: number = timeoutMs,
): Promise<Omit<Attempt, 'at'>> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  try {
    const target = new URL(url);
    const { hostname, port } = checkUrl(target, allow);
    const status = await post(target, await connectOptions(hostname, port, allow), headers, body, patienceMs);
    return { status, latencyMs: elapsed() };
  } catch (error) {
    return { latencyMs: elapsed(), error: explain(error, patienceMs) };
  }
}

function post(
  url: URL,
  connection: Awaited<ReturnType<typeof connectOptions>>,
  headers: Record<string, string>,
  body: string,
  patienceMs: number,
): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = request(
      {
        ...connection,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        // A connection of its own: one that is kept would be reused without its address being checked.
        agent: false,
        signal: AbortSignal.timeout(patienceMs),
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
        // Only the status counts; a body without end must not hold the function.
        response.on('error', () => undefined).destroy();
      },
    );
    call.on('error', reject).end(body);
  });
}

function explain(error: unknown, patienceMs: number): string {
  if (error instanceof AddressRefused || error instanceof HostNotFound) return error.message;
  if (!(error instanceof Error)) return 'The receiver could not be called.';
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return `The receiver did not answer within ${patienceMs / 1000} seconds.`;
  const code = 'code' in error ? String(error.code) : error.name;
  return `The receiver could not be called: ${code}.`;
}
