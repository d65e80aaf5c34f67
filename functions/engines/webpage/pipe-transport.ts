import type { Readable, Writable } from 'node:stream';
import type { ConnectionTransport } from 'puppeteer-core';

/**
 * Carries the DevTools protocol over two pipes, with a zero byte after each message. Unlike a WebSocket, it opens no port for
 * other processes to find, and is faster.
 */
export class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #to: Writable;
  #pending: Buffer[] = [];

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    // The end of the browser is noticed by the end of its output.
    to.on('error', () => {});
    from
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('error', () => {})
      .once('close', () => this.onclose?.());
  }

  send(message: string): void {
    this.#to.write(`${message}\0`);
  }

  close(): void {
    this.#to.end();
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      this.#pending.push(chunk.subarray(start, end));
      const message = Buffer.concat(this.#pending).toString();
      this.#pending = [];
      start = end + 1;
      // Code that awaits one message has to continue before the next is received.
      setImmediate(() => this.onmessage?.(message));
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
  }
}
