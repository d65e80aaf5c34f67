import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';

/**
 * Pipes the body of a request, and keeps the connection if the destination fails.
 * A pipeline would destroy the request, and the client would see a reset instead of the response.
 */
export function pipeRequest(req: IncomingMessage, destination: Writable): void {
  req.pipe(destination);
  req.once('close', () => {
    if (!req.readableEnded) destination.destroy(new Error('The client disconnected'));
  });
  const drop = () => {
    req.unpipe(destination);
    req.resume();
  };
  destination.once('error', drop);
  destination.once('close', drop);
}
