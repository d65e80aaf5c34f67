import { connect as connectSocket, createServer, type Socket } from 'node:net';

/** A TCP link to a server that can be cut. */
export interface ToxicLink extends AsyncDisposable {
  port: number;
  /** Connections made so far. */
  readonly connections: number;
  /** How often a connection was cut. */
  readonly cuts: number;
}

export interface Toxin {
  /** Bytes after which a connection is cut. */
  after: number;
  /** Which way they flow: from the server for imports, to it for exports. */
  direction: 'down' | 'up';
  /** How many connections are cut before the link is sound. */
  times: number;
  /** Whether it falls silent, as when a cable is pulled, instead of ending the connection. */
  silent?: boolean;
}

/** Opens a link on a loopback port that breaks connections in the middle of a transfer, as networks do. */
export async function openToxicLink(port: number, toxin: Toxin): Promise<ToxicLink> {
  const open = new Set<Socket>();
  let connections = 0;
  let cuts = 0;
  const server = createServer((near) => {
    connections++;
    const far = connectSocket(port, '127.0.0.1');
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    let passed = 0;
    let isCut = false;
    const [from, to] = toxin.direction === 'down' ? [far, near] : [near, far];
    to.pipe(from);
    from.on('data', (chunk: Buffer) => {
      const left = toxin.after - passed;
      passed += chunk.length;
      if (passed > toxin.after && cuts < toxin.times) {
        cuts++;
        // What came before the cut arrives: the receiver is left with a part of the file, not with nothing.
        to.write(chunk.subarray(0, Math.max(0, left)), () => {
          if (toxin.silent) return;
          near.resetAndDestroy();
          far.resetAndDestroy();
        });
        from.pause();
        isCut = true;
        return;
      }
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!isCut) from.resume();
    });
    from.on('end', () => to.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The link has no port.');
  return {
    port: address.port,
    get connections() {
      return connections;
    },
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
