import { open } from 'node:fs/promises';

/**
 * Counts the pictures of a WebP by its chunks, up to a number after which it stops: what decodes them looks for each one
 * from the start of the file, so that many cost minutes before the first is there.
 */
export async function countWebpFrames(path: string, upTo: number): Promise<number> {
  const file = await open(path);
  try {
    const header = Buffer.alloc(8);
    let frames = 0;
    // The chunks follow the twelve bytes that name the container.
    for (let at = 12; frames < upTo; ) {
      const { bytesRead } = await file.read(header, 0, header.length, at);
      if (bytesRead < header.length) break;
      if (header.toString('latin1', 0, 4) === 'ANMF') frames += 1;
      const length = header.readUInt32LE(4);
      at += header.length + length + (length % 2);
    }
    return frames;
  } finally {
    await file.close();
  }
}
