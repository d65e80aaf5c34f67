import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * How much longer than announced the server keeps an idle connection. Clients close it first, but may be late on a
 * stalled machine, and a request on a closing connection is lost.
 */
const keepAliveTimeoutBuffer = 60_000;

export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The port, by default on the loopback addresses of both families. Early requests wait until the stack has started. */
export class Front {
  readonly #servers: Server[] = [];
  readonly #ready = Promise.withResolvers<(req: IncomingMessage, res: ServerResponse) => Promise<void>>();
  readonly #upgrade = Promise.withResolvers<Upgrade>();

  async listen(port: number, host?: string): Promise<number> {
    if (host !== undefined) return this.#listenOn(host, port);
    const chosen = await this.#listenOn('127.0.0.1', port);
    try {
      await this.#listenOn('::1', chosen);
    } catch (error) {
      // Without IPv6, localhost is reached over IPv4.
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') throw error;
    }
    return chosen;
  }

  serve(handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>, upgrade: Upgrade): void {
    this.#ready.resolve(handle);
    this.#upgrade.resolve(upgrade);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  async #listenOn(host: string, port: number): Promise<number> {
    const server = createServer(
      { maxHeaderSize: 32_768, requestTimeout: 0, keepAliveTimeoutBuffer },
      async (req, res) => {
        const handle = await this.#ready.promise;
        await handle(req, res);
      },
    );
    server.on('upgrade', async (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      const upgrade = await this.#upgrade.promise;
      upgrade(req, socket, head);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }
}
