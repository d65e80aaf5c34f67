import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AddressRefused, type AllowedHosts, checkUrl, connectOptions } from '../../../shared/net/addresses.ts';

/** Limits for the requests of one task's page. */
export interface ProxyLimits {
  requests: number;
  bytes: number;
}

/** A file that the proxy serves itself, under an address that exists nowhere else. */
export interface ServedDocument {
  url: URL;
  body: Uint8Array;
  contentType: string;
}

/** The resources that one task's page may load. */
export interface PageAccess {
  /** Private hosts that are exempt from the outbound policy. */
  allow: AllowedHosts;
  /** Whether it may load only the document. */
  isOffline?: boolean;
  document?: ServedDocument | undefined;
}

export interface PageProxy {
  url: string;
  /** Opens the proxy for a task's page; until then it refuses every request. */
  open(access: PageAccess): void;
  /** Blocked requests by host and port: a host may be exempt on another port. */
  refused: Map<string, string>;
  /** Returns which limit was reached, if any. */
  exceeded(): 'requests' | 'bytes' | undefined;
  close(): void;
}

const headersNotForwarded = [
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
];
const idleMs = 30_000;

/**
 * Starts the proxy that is a page's only access to the network. It handles all requests, including WebSockets, and connects only
 * to addresses that the outbound policy has checked.
 */
export async function startProxy(limits: ProxyLimits): Promise<PageProxy> {
  let access: PageAccess | undefined;
  const sockets = new Set<Duplex>();
  const refused = new Map<string, string>();
  let requests = 0;
  let bytes = 0;
  let exceeded: 'requests' | 'bytes' | undefined;

  const admit = () => {
    requests += 1;
    if (requests > limits.requests) exceeded ??= 'requests';
    return exceeded === undefined;
  };
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes <= limits.bytes) return;
    exceeded ??= 'bytes';
    for (const socket of sockets) socket.destroy();
  };
  const keep = <S extends Duplex>(socket: S): S => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    return socket;
  };
  const note = (error: unknown, url: string) => {
    if (error instanceof AddressRefused && URL.canParse(url)) refused.set(new URL(url).host, error.host);
  };

  const server: Server = createServer((incoming, outgoing) => {
    if (!access) return refuse(outgoing, 403);
    const { allow, document, isOffline } = access;
    if (document && incoming.url === document.url.href) return serve(document, outgoing);
    if (isOffline) return refuse(outgoing, 403);
    if (!admit()) return refuse(outgoing, 429);
    forward(incoming, outgoing, allow, keep, count).catch((error: unknown) => {
      note(error, incoming.url ?? '');
      refuse(outgoing, error instanceof AddressRefused ? 403 : 502);
    });
  });
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    keep(client);
    if (!access || access.isOffline || !admit()) {
      client.end(`HTTP/1.1 ${access && !access.isOffline ? '429 Too Many Requests' : '403 Forbidden'}\r\n\r\n`);
      return;
    }
    tunnel(incoming.url ?? '', client, head, access.allow, keep, count).catch((error: unknown) => {
      note(error, `https://${incoming.url}`);
      client.end(`HTTP/1.1 ${error instanceof AddressRefused ? '403 Forbidden' : '502 Bad Gateway'}\r\n\r\n`);
    });
  });
  server.on('connection', keep);
  server.on('clientError', (_error, socket) => socket.destroy());
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    open(granted) {
      access = granted;
    },
    refused,
    exceeded: () => exceeded,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address && typeof address === 'object') resolve(address.port);
      else reject(new Error('The proxy has no port.'));
    });
  });
}

function serve(document: ServedDocument, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': document.contentType, 'content-length': document.body.length });
  outgoing.end(document.body);
}

function refuse(outgoing: ServerResponse, status: number): void {
  if (outgoing.headersSent) outgoing.destroy();
  else outgoing.writeHead(status, { 'content-length': 0 }).end();
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  allow: AllowedHosts,
  keep: <S extends Duplex>(socket: S) => S,
  count: (chunk: Uint8Array) => void,
): Promise<void> {
  const url = new URL(incoming.url ?? '');
  const { hostname, port } = checkUrl(url, allow);
  const { host, lookup } = await connectOptions(hostname, port, allow);
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).filter(([name]) => !headersNotForwarded.includes(name)),
  );
  const upstream = request({
    agent: false,
    host,
    port,
    lookup,
    method: incoming.method,
    path: `${url.pathname}${url.search}`,
    headers,
    setHost: false,
    timeout: idleMs,
  });
  upstream.once('socket', keep).once('timeout', () => upstream.destroy());
  upstream.once('response', (response) => {
    response.on('data', count).on('error', () => outgoing.destroy());
    const forwarded = Object.entries(response.headers).filter(([name]) => !headersNotForwarded.includes(name));
    outgoing.writeHead(response.statusCode ?? 502, Object.fromEntries(forwarded));
    response.pipe(outgoing);
  });
  upstream.once('error', () => refuse(outgoing, 502));
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

async function tunnel(
  authority: string,
  client: Duplex,
  head: Buffer,
  allow: AllowedHosts,
  keep: <S extends Duplex>(socket: S) => S,
  count: (chunk: Uint8Array) => void,
): Promise<void> {
  // The URL parser splits host and port, and knows every spelling of an address.
  const { hostname, port } = checkUrl(new URL(`https://${authority}`), allow);
  const options = await connectOptions(hostname, port, allow);
  const upstream: Socket = keep(connect(options));
  upstream.setTimeout(idleMs, () => upstream.destroy());
  upstream.once('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    upstream.write(head);
    upstream.on('data', count);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  upstream.once('error', () => client.destroy()).once('close', () => client.destroy());
  client.once('close', () => upstream.destroy());
}
