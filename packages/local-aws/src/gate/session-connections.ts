import type { Socket } from 'node:net';
import type { Credentials } from '../iam/credentials.ts';

/** The open connections of sessions, by access key. */
export class SessionConnections {
  readonly #sockets = new Map<string, Set<Socket>>();

  /** Adds the connection of a call, unless its credentials are shared by many callers. */
  add({ accessKeyId, expiresAt }: Credentials, socket: Socket): void {
    if (expiresAt === undefined) return;
    const own = this.#sockets.get(accessKeyId) ?? new Set();
    if (own.has(socket)) return;
    this.#sockets.set(accessKeyId, own.add(socket));
    socket.once('close', () => {
      own.delete(socket);
      if (own.size === 0) this.#sockets.delete(accessKeyId);
    });
  }

  /** Closes all connections of a session. */
  close(accessKeyId: string): void {
    for (const socket of this.#sockets.get(accessKeyId) ?? []) socket.destroy();
  }
}
