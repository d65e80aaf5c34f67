import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The fields that all events of a connection share. */
export interface ConnectionFacts {
  apiId: string;
  accountId: string;
  stage: string;
  host: string;
  sourceIp: string;
  connectionId: string;
  connectedAt: number;
}

/** Builds the `$connect` event. */
export function connectEvent(facts: ConnectionFacts, request: IncomingMessage): unknown {
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const names = [...new Set(query.keys())];
  return {
    headers: headersOf(request, (values) => values.at(-1) ?? ''),
    multiValueHeaders: headersOf(request, (values) => values),
    ...(names.length > 0 && {
      queryStringParameters: Object.fromEntries(names.map((name) => [name, query.getAll(name).at(-1) ?? ''])),
      multiValueQueryStringParameters: Object.fromEntries(names.map((name) => [name, query.getAll(name)])),
    }),
    requestContext: contextOf(facts, '$connect', 'CONNECT'),
    isBase64Encoded: false,
  };
}

/** Builds the event of a message. */
export function messageEvent(facts: ConnectionFacts, body: string): unknown {
  const messageId = randomBytes(11).toString('base64');
  return {
    requestContext: { ...contextOf(facts, '$default', 'MESSAGE'), messageId },
    body,
    isBase64Encoded: false,
  };
}

/** Builds the `$disconnect` event. */
export function disconnectEvent(facts: ConnectionFacts, code: number, reason: string): unknown {
  return {
    headers: { Host: facts.host },
    requestContext: {
      ...contextOf(facts, '$disconnect', 'DISCONNECT'),
      disconnectStatusCode: code,
      disconnectReason: reason,
    },
    isBase64Encoded: false,
  };
}

function contextOf(facts: ConnectionFacts, routeKey: string, eventType: string) {
  const requestId = randomBytes(11).toString('base64');
  return {
    routeKey,
    eventType,
    extendedRequestId: requestId,
    requestId,
    requestTimeEpoch: Date.now(),
    messageDirection: 'IN',
    stage: facts.stage,
    connectedAt: facts.connectedAt,
    connectionId: facts.connectionId,
    apiId: facts.apiId,
    domainName: facts.host.replace(/:\d+$/, ''),
    identity: { sourceIp: facts.sourceIp },
  };
}

function headersOf<T>(request: IncomingMessage, pick: (values: string[]) => T): Record<string, T> {
  const spelled = new Map<string, string>();
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index] ?? '';
    spelled.set(name.toLowerCase(), name);
  }
  return Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values = []]) => [spelled.get(name) ?? name, pick(values)]),
  );
}
