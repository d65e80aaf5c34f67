/**
 * The packets of Engine.IO 4 and Socket.IO 5 for the WebSocket transport and a server without timers: open, connect,
 * connect error, ping, pong, event, ack, disconnect. API Gateway transports them as text.
 */

export type ClientPacket =
  | { type: 'connect'; namespace: string; auth: Record<string, unknown> }
  | { type: 'disconnect'; namespace: string }
  | { type: 'event'; namespace: string; name: string; args: unknown[]; ackId?: number }
  | { type: 'ack'; namespace: string; ackId: number }
  | { type: 'ping'; payload: string }
  | { type: 'pong' }
  | { type: 'close' };

/** An invalid packet, or one that only servers send. */
export class BadPacket extends Error {
  override name = 'BadPacket';
}

const maxMessageBytes = 128 * 1024;

/** Parses a packet of a client, or throws a BadPacket. */
export function readPacket(text: string): ClientPacket {
  const body = text.slice(1);
  switch (text.charAt(0)) {
    case '1':
      return { type: 'close' };
    case '2':
      return { type: 'ping', payload: body };
    case '3':
      return { type: 'pong' };
    case '4':
      return readMessage(body);
    default:
      throw new BadPacket(`Expected a packet of Engine.IO 4 but received ${JSON.stringify(text.slice(0, 20))}.`);
  }
}

function readMessage(text: string): ClientPacket {
  const type = text.charAt(0);
  const { namespace, ackId, payload } = splitHeader(text.slice(1));
  switch (type) {
    case '0':
      return { type: 'connect', namespace, auth: payload === '' ? {} : readObject(payload) };
    case '1':
      return { type: 'disconnect', namespace };
    case '2': {
      const [name, ...args] = readList(payload);
      if (typeof name !== 'string') throw new BadPacket('Expected the name of an event.');
      return { type: 'event', namespace, name, args, ...(ackId === undefined ? {} : { ackId }) };
    }
    case '3':
      if (ackId === undefined) throw new BadPacket('Expected the id of an acknowledgement.');
      return { type: 'ack', namespace, ackId };
    default:
      throw new BadPacket(`Packets of type ${JSON.stringify(type)} are not accepted from clients.`);
  }
}

/** Splits `/namespace,12[...]` into its optional parts. */
function splitHeader(text: string): { namespace: string; ackId: number | undefined; payload: string } {
  const match = /^(?:(\/[^,]*)(?:,|$))?(\d{1,15})?/.exec(text);
  return {
    namespace: match?.[1]?.split('?')[0] ?? '/',
    ackId: match?.[2] === undefined ? undefined : Number(match[2]),
    payload: text.slice(match?.[0].length ?? 0),
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BadPacket('Expected JSON in the packet.', { cause });
  }
}

function readObject(text: string): Record<string, unknown> {
  const value = readJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadPacket('Expected an object in the packet.');
  return Object.fromEntries(Object.entries(value));
}

function readList(text: string): unknown[] {
  const value = readJson(text);
  if (!Array.isArray(value)) throw new BadPacket('Expected a list in the packet.');
  return value;
}

/** Writes the open packet. The client closes a connection without a ping for the interval plus the timeout. */
export function openPacket(sid: string, pingSeconds: number): string {
  return `0${JSON.stringify({
    sid,
    upgrades: [],
    pingInterval: pingSeconds * 1000,
    pingTimeout: pingSeconds * 500,
    maxPayload: maxMessageBytes,
  })}`;
}

/** Writes the response to a connect packet. The client sends the private id when it reconnects. */
export function connectPacket(sid: string, privateId: string): string {
  return `40${JSON.stringify({ sid, pid: privateId })}`;
}

/** Writes the rejection of a connect packet. */
export function connectErrorPacket(namespace: string, message: string, data?: unknown): string {
  return `44${prefixOf(namespace)}${JSON.stringify({ message, data })}`;
}

/** Writes an event for the main namespace with one argument, because handlers in some languages fail with more. */
export function eventPacket(name: string, data: unknown): string {
  return `42${JSON.stringify([name, data])}`;
}

/** Writes the acknowledgement of an event. */
export function ackPacket(ackId: number, ...args: unknown[]): string {
  return `43${ackId}${JSON.stringify(args)}`;
}

/** The ping of the server, which clients respond to. */
export const pingPacket = '2';

/** Writes the response to a ping. */
export function pongPacket(payload: string): string {
  return `3${payload}`;
}

function prefixOf(namespace: string): string {
  return namespace === '/' ? '' : `${namespace},`;
}
