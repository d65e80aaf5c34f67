import type { Duplex } from 'node:stream';

/** Calls back when a client sends a frame above a size, which the `ws` package does not limit. */
export function watchFrames(socket: Duplex, head: Buffer, maxBytes: number, tooLarge: () => void): void {
  let left: Buffer = Buffer.alloc(0);
  let skip = 0;
  const take = (chunk: Buffer) => {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    left = left.length === 0 ? chunk.subarray(skipped) : Buffer.concat([left, chunk.subarray(skipped)]);
    for (let frame = readHeader(left); frame; frame = readHeader(left)) {
      if (frame.payload > maxBytes) {
        socket.off('data', take);
        tooLarge();
        return;
      }
      const size = frame.header + frame.payload;
      skip = Math.max(0, size - left.length);
      left = left.subarray(Math.min(size, left.length));
    }
  };
  if (head.length > 0) take(head);
  socket.on('data', take);
}

const maskBytes = 4;

/** Reads the lengths of a frame's header and payload (RFC 6455, section 5.2) once they are complete. */
function readHeader(bytes: Buffer): { header: number; payload: number } | undefined {
  if (bytes.length < 2) return undefined;
  const second = bytes.readUInt8(1);
  const mask = second & 0x80 ? maskBytes : 0;
  const short = second & 0x7f;
  if (short < 126) return { header: 2 + mask, payload: short };
  if (short === 126) return bytes.length < 4 ? undefined : { header: 4 + mask, payload: bytes.readUInt16BE(2) };
  return bytes.length < 10 ? undefined : { header: 10 + mask, payload: Number(bytes.readBigUInt64BE(2)) };
}
