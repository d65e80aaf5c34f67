import { Readable } from 'node:stream';
import type SftpClient from 'ssh2-sftp-client';

export type Sftp = Awaited<ReturnType<SftpClient['connect']>>;
type Handle = Buffer;

/** The read size that every server supports in one packet. */
const packetBytes = 32 * 1024;
/** Concurrent requests, to hide the latency of each. */
const packetsAtOnce = 64;
/**
 * A write that, with its header, fills seven SSH packets of OpenSSH. A round size would leave the last packet nearly empty.
 * The library splits it for servers with a lower limit.
 */
const writeBytes = 7 * packetBytes - 64;
const writesAtOnce = 12;

/** Opens a file of the server. */
export function openFile(sftp: Sftp, path: string, flags: 'r' | 'r+' | 'w'): Promise<Handle> {
  return new Promise((resolve, reject) =>
    sftp.open(path, flags, (error, handle) => (error ? reject(error) : resolve(handle))),
  );
}

/** Closes a file. A server may report a failed write only now. */
export function closeFile(sftp: Sftp, handle: Handle): Promise<void> {
  return new Promise((resolve, reject) => sftp.close(handle, (error) => (error ? reject(error) : resolve())));
}

/** Returns size and time of an open file. */
export function statFile(sftp: Sftp, handle: Handle): Promise<{ size: number; mtime: number }> {
  return new Promise((resolve, reject) =>
    sftp.fstat(handle, (error, stats) => (error ? reject(error) : resolve(stats))),
  );
}

/** Reads a file from an offset in order, with many requests in flight. Destroying it closes the connection, the only way to stop a silent server. */
export class SftpReader extends Readable {
  readonly #sftp: Sftp;
  readonly #handle: Handle;
  readonly #disconnect: () => void;
  readonly #inFlight: Promise<Buffer>[] = [];
  #position: number;
  #reading = false;
  #ended = false;

  constructor(sftp: Sftp, handle: Handle, start: number, disconnect: () => void) {
    super({ highWaterMark: packetBytes * packetsAtOnce });
    this.#sftp = sftp;
    this.#handle = handle;
    this.#position = start;
    this.#disconnect = disconnect;
  }

  override _read(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#pump().then(
      () => {
        this.#reading = false;
      },
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#disconnect();
    callback(error);
  }

  async #pump(): Promise<void> {
    for (let wanted = true; wanted && !this.destroyed; ) {
      while (!this.#ended && this.#inFlight.length < packetsAtOnce) this.#ask();
      const chunk = await this.#inFlight.shift();
      if (chunk === undefined || chunk.length === 0) {
        this.#ended = true;
        this.push(null);
        return;
      }
      wanted = this.push(chunk);
    }
  }

  #ask(): void {
    const start = this.#position;
    this.#position += packetBytes;
    const response = this.#readAll(start);
    // Awaited in order; a rejection before that must not count as unhandled.
    response.catch(() => undefined);
    this.#inFlight.push(response);
  }

  /** Reads one packet, and completes short reads, because the next packet starts after it. */
  async #readAll(start: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(packetBytes);
    let filled = 0;
    while (filled < packetBytes) {
      const read = await this.#readOnce(buffer, filled, start + filled);
      if (read === 0) break;
      filled += read;
    }
    return buffer.subarray(0, filled);
  }

  #readOnce(buffer: Buffer, offset: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#sftp.read(this.#handle, buffer, offset, packetBytes - offset, position, (error, bytes) => {
        // Status 1 is the end of the file.
        if (error && 'code' in error && error.code === 1) resolve(0);
        else if (error) reject(error);
        else resolve(bytes);
      });
    });
  }
}

/**
 * Writes content to an open file at an offset with many requests in flight, and reports the confirmed position. Small chunks
 * are combined into requests of one size in reused buffers.
 */
export async function writeAll(
  sftp: Sftp,
  handle: Handle,
  start: number,
  content: AsyncIterable<Buffer>,
  confirmed: (position: number) => void,
): Promise<void> {
  const inFlight: Promise<number>[] = [];
  const free: Buffer[] = [];
  let buffer: Buffer = Buffer.allocUnsafeSlow(writeBytes);
  let filled = 0;
  let position = start;
  const write = async () => {
    const sent = buffer;
    const end = position + filled;
    const written = writeOnce(sftp, handle, sent.subarray(0, filled), position).then(() => {
      free.push(sent);
      return end;
    });
    // Awaited in order; a rejection before that must not count as unhandled.
    written.catch(() => undefined);
    inFlight.push(written);
    position = end;
    filled = 0;
    if (inFlight.length >= writesAtOnce) confirmed((await inFlight.shift()) ?? start);
    buffer = free.pop() ?? Buffer.allocUnsafeSlow(writeBytes);
  };
  for await (const chunk of content)
    for (let offset = 0; offset < chunk.length; ) {
      const taken = Math.min(writeBytes - filled, chunk.length - offset);
      buffer.set(chunk.subarray(offset, offset + taken), filled);
      filled += taken;
      offset += taken;
      if (filled === writeBytes) await write();
    }
  if (filled > 0) await write();
  for (const written of inFlight) confirmed(await written);
}

function writeOnce(sftp: Sftp, handle: Handle, packet: Buffer, position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    sftp.write(handle, packet, 0, packet.length, position, (error) => (error ? reject(error) : resolve()));
  });
}
