import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  headers: Record<string, string>;
  body: string;
  path: string;
}

/** Behaves in some way to a call, given how many calls of the same message came before. */
export type Behaviour = (res: ServerResponse, earlier: number, req: IncomingMessage) => void;

/** A receiver of webhooks that keeps what it was sent and behaves as requested. */
export async function startReceiver(behave: Behaviour) {
  const calls: Call[] = [];
  const counts = new Map<string, number>();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
    const id = headers['webhook-id'] ?? '';
    const earlier = counts.get(id) ?? 0;
    counts.set(id, earlier + 1);
    calls.push({ headers, body: Buffer.concat(chunks).toString(), path: req.url ?? '' });
    behave(res, earlier, req);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    host: `127.0.0.1:${port}`,
    calls,
    set behave(next: Behaviour) {
      behave = next;
    },
    /** Is down: its port refuses connections. */
    down: close,
    up: () => listen(port),
    async [Symbol.asyncDispose]() {
      await close();
    },
  };
}

/** The ways in which receivers misbehave, each until a message comes for the second time. */
export const misbehaviours: Record<string, Behaviour> = {
  fails: onceBad((res) => res.writeHead(500).end()),
  'cuts the connection': onceBad((res) => res.socket?.resetAndDestroy()),
  redirects: onceBad((res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end()),
  'answers no HTTP': onceBad((res) => res.socket?.end('hello\r\n\r\n')),
  // Not until the time-out of 15 seconds is over.
  hangs: onceBad(() => undefined),
};

function onceBad(misbehave: (res: ServerResponse) => void): Behaviour {
  return (res, earlier) => {
    if (earlier === 0) misbehave(res);
    else res.writeHead(204).end();
  };
}
