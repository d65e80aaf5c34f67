import type { IncomingMessage } from 'node:http';
import { createContext, runInContext } from 'node:vm';
import { z } from 'zod';

/**
 * CloudFront allows about a millisecond of processor time. This limit only stops endless loops, even on a stalled
 * machine.
 */
const timeoutMs = 5_000;

const value = z.object({ value: z.string() });
const headers = z.record(z.string(), value.extend({ multiValue: z.array(value).optional() }));
const changedRequest = z.object({ method: z.string(), uri: z.string().startsWith('/'), headers });
const result = z.union([
  z.strictObject({
    statusCode: z.number().int().min(100).max(599),
    statusDescription: z.string().optional(),
    headers: headers.optional(),
    body: z.string().optional(),
  }),
  changedRequest,
]);

/** A request as modified by a function. */
export type EdgeRequest = z.infer<typeof changedRequest>;

/** The request as modified by the function, or a response instead of the origin's. */
export type EdgeResult = z.infer<typeof result>;

/**
 * Returns a CloudFront function from its code, or throws if it cannot run. No Node API is available, but JavaScript
 * features that CloudFront lacks are.
 */
export function createEdgeFunction(
  code: string,
  distributionDomainName: string,
): (request: IncomingMessage, viewer: string) => EdgeResult {
  const context = createContext({}, { codeGeneration: { strings: false, wasm: false } });
  runInContext(code, context, { timeout: timeoutMs });
  return (request, viewer) => {
    const event = JSON.stringify(eventOf(request, viewer, distributionDomainName));
    const text: unknown = runInContext(`JSON.stringify(handler(${event}))`, context, { timeout: timeoutMs });
    const returned = result.parse(JSON.parse(String(text)));
    if ('method' in returned && returned.method !== request.method)
      throw new Error(`A function may not change the method to ${returned.method}.`);
    return returned;
  };
}

/** Builds the event of a viewer request. */
function eventOf(request: IncomingMessage, ip: string, distributionDomainName: string) {
  const [uri = '', query = ''] = splitOnce(request.url ?? '/', '?');
  const { cookie = [], ...others } = request.headersDistinct;
  const pairs = cookie.flatMap((header) => header.split(/;\s*/)).map((pair) => splitOnce(pair, '='));
  return {
    version: '1.0',
    context: { distributionDomainName, distributionId: 'LOCAL', eventType: 'viewer-request', requestId: 'local' },
    viewer: { ip },
    request: {
      method: request.method,
      uri,
      querystring: valuesOf([...new URLSearchParams(query)]),
      headers: valuesOf(
        Object.entries(others).flatMap(([name, values = []]) => values.map((value) => [name, value] as const)),
      ),
      cookies: valuesOf(pairs.map(([name = '', value = '']) => [name, value] as const)),
    },
  };
}

interface Values {
  value: string;
  multiValue?: { value: string }[];
}

function valuesOf(pairs: readonly (readonly [string, string])[]): Record<string, Values> {
  return Object.fromEntries(
    [...Map.groupBy(pairs, ([name]) => name)].map(([name, same]) => {
      const all = same.map(([, value]) => ({ value }));
      return [name, { value: all[0]?.value ?? '', ...(all.length > 1 ? { multiValue: all } : {}) }];
    }),
  );
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
