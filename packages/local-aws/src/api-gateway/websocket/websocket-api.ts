import { randomBytes } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { LambdaRuntime } from '../../lambda/runtime.ts';
import type { LocalFunction, LocalStack, LocalWebSocketApi } from '../../template/model.ts';
import { createThrottle } from '../http/throttle.ts';
import { type ConnectionFacts, connectEvent, disconnectEvent, messageEvent } from './event.ts';
import { watchFrames } from './frames.ts';

/** API Gateway's limits. */
export interface WebSocketLimits {
  messageBytes: number;
  frameBytes: number;
  /** Time without a message in either direction. Ping and pong frames do not count. */
  idleMs: number;
  lifeMs: number;
  /** Maximum buffered bytes for a client that does not read, before posts to it are refused. */
  bufferBytes: number;
}

const gatewayLimits: WebSocketLimits = {
  messageBytes: 128 * 1024,
  frameBytes: 32 * 1024,
  idleMs: 10 * 60_000,
  lifeMs: 2 * 60 * 60_000,
  // Not documented; exceeding it gives LimitExceededException.
  bufferBytes: 1024 * 1024,
};

export interface WebSocketApi {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Sends to a connection, unless it does not exist or its buffer is full. */
  post(connectionId: string, data: Buffer): 'sent' | 'full' | 'gone';
  /** Closes a connection; false if it does not exist. */
  disconnect(connectionId: string): boolean;
  /** Drops a connection, or all of them, without a close frame, like a network failure. */
  cut(connectionId?: string): void;
  connectionIds(): string[];
  limits: WebSocketLimits;
  close(): Promise<void>;
}

interface Connection {
  socket: WebSocket;
  facts: ConnectionFacts;
  idle: NodeJS.Timeout;
  life: NodeJS.Timeout;
}

/** Serves WebSockets as API Gateway does, with the functions of its routes. */
export function createWebSocketApi(
  api: LocalWebSocketApi,
  runtime: LambdaRuntime,
  stack: Pick<LocalStack, 'account'>,
  options: { report(line: string): void; limits?: Partial<WebSocketLimits> },
): WebSocketApi {
  const limits = { ...gatewayLimits, ...options.limits };
  const server = new WebSocketServer({ noServer: true, maxPayload: limits.messageBytes, clientTracking: false });
  const connections = new Map<string, Connection>();
  const leaving = new Set<Promise<void>>();
  // One bucket for all routes, because the limit applies to the stage.
  const isWithinRate = api.throttle ? createThrottle(api.throttle) : () => true;
  let closing = false;

  const routeOf = (routeKey: string): LocalFunction => {
    const found = api.routes.find((route) => route.routeKey === routeKey);
    if (!found) throw new Error(`The WebSocket API ${api.logicalId} has no route ${routeKey}.`);
    return found.function;
  };

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const facts: ConnectionFacts = {
      apiId: api.apiId,
      accountId: stack.account,
      stage: api.stage,
      host: request.headers.host ?? 'localhost',
      sourceIp: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
      connectionId: `${randomBytes(11).toString('base64url')}=`,
      connectedAt: Date.now(),
    };
    // A client may disconnect before it is accepted.
    socket.on('error', () => {});
    const status = await admit(facts, request);
    if (status < 200 || status > 299 || closing) {
      refuseUpgrade(socket, closing ? 503 : status);
      return;
    }
    if (!socket.readable || !socket.writable) {
      // The client has disconnected since it was accepted.
      socket.destroy();
      depart(facts, 1006, '');
      return;
    }
    server.handleUpgrade(request, socket, head, (accepted) => {
      watchFrames(socket, head, limits.frameBytes, () => accepted.close(1009, 'Message too long'));
      enter(accepted, facts);
    });
  }

  async function admit(facts: ConnectionFacts, request: IncomingMessage): Promise<number> {
    if (!isWithinRate()) return 429;
    try {
      const result = await runtime.invoke(routeOf('$connect'), connectEvent(facts, request));
      const status = typeof result === 'object' && result !== null && 'statusCode' in result ? result.statusCode : 200;
      return typeof status === 'number' ? status : 500;
    } catch {
      return 500;
    }
  }

  function enter(socket: WebSocket, facts: ConnectionFacts): void {
    const { connectionId } = facts;
    const connection: Connection = {
      socket,
      facts,
      idle: setTimeout(() => socket.close(1001, 'Going away'), limits.idleMs).unref(),
      life: setTimeout(() => socket.close(1001, 'Going away'), limits.lifeMs).unref(),
    };
    connections.set(connectionId, connection);
    socket.on('message', (data: RawData, isBinary: boolean) => {
      connection.idle.refresh();
      if (isBinary) socket.close(1003, 'Unsupported data');
      else void take(connection, data.toString());
    });
    socket.on('error', () => {});
    socket.once('close', (code, reason) => {
      clearTimeout(connection.idle);
      clearTimeout(connection.life);
      connections.delete(connectionId);
      depart(facts, code, reason.toString());
    });
  }

  function depart(facts: ConnectionFacts, code: number, reason: string): void {
    if (closing) return;
    const left = leave(facts, code, reason).finally(() => leaving.delete(left));
    leaving.add(left);
  }

  async function take(connection: Connection, text: string): Promise<void> {
    const { facts, socket } = connection;
    const reply = (message: string) =>
      socket.send(JSON.stringify({ message, connectionId: facts.connectionId, requestId: newRequestId() }), () => {});
    if (!isWithinRate()) {
      reply('Too Many Requests');
      return;
    }
    try {
      await runtime.invoke(routeOf(routeKeyOf(text)), messageEvent(facts, text));
    } catch (error) {
      if (closing) return;
      options.report(`${api.logicalId}: a message failed: ${String(error)}`);
      reply('Internal server error');
    }
  }

  /** Finds the route by `$request.body.action`; the default if there is none or the message is not JSON. */
  function routeKeyOf(text: string): string {
    try {
      const body: unknown = JSON.parse(text);
      const action = typeof body === 'object' && body !== null && 'action' in body ? body.action : undefined;
      return api.routes.some(({ routeKey }) => routeKey === action) ? String(action) : '$default';
    } catch {
      return '$default';
    }
  }

  async function leave(facts: ConnectionFacts, code: number, reason: string): Promise<void> {
    // API Gateway delivers disconnects on a best-effort basis.
    if (!isWithinRate()) return;
    try {
      await runtime.invoke(routeOf('$disconnect'), disconnectEvent(facts, code, reason));
    } catch (error) {
      if (!closing) options.report(`${api.logicalId}: a disconnect failed: ${String(error)}`);
    }
  }

  return {
    limits,
    upgrade(request, socket, head) {
      void accept(request, socket, head);
    },
    post(connectionId, data) {
      const connection = connections.get(connectionId);
      if (connection?.socket.readyState !== 1) return 'gone';
      if (connection.socket.bufferedAmount > limits.bufferBytes) return 'full';
      connection.idle.refresh();
      // API Gateway reports success once it has accepted the data. A failed write ends the connection.
      connection.socket.send(data, { binary: false }, () => {});
      return 'sent';
    },
    disconnect(connectionId) {
      const connection = connections.get(connectionId);
      // A client that does not read would neither see the close frame nor respond to it.
      if (connection && connection.socket.bufferedAmount > 0) connection.socket.terminate();
      else connection?.socket.close(1000);
      return connection !== undefined;
    },
    cut(connectionId) {
      const chosen = connectionId === undefined ? [...connections.keys()] : [connectionId];
      for (const id of chosen) connections.get(id)?.socket.terminate();
    },
    connectionIds: () => [...connections.keys()],
    async close() {
      closing = true;
      for (const { socket } of connections.values()) socket.terminate();
      await Promise.all(leaving);
      server.close();
    },
  };
}

/** Refuses a WebSocket upgrade, and ends the connection whether or not the client ends its side. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  socket.end(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function newRequestId(): string {
  return randomBytes(11).toString('base64');
}
