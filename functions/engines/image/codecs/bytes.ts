import { open } from 'node:fs/promises';

/** Returns 32-bit integers in little-endian order, which is that of all supported processors. */
export function int32(...values: number[]): Buffer {
  return Buffer.from(Int32Array.from(values).buffer);
}

/** Reads the first bytes of a file. */
export async function readStart(path: string, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
