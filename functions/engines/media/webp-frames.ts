import { open } from 'node:fs/promises';

/**
 * Counts the frames of a WebP by its chunks, up to a maximum. The decoder searches for each frame from the start of the file,
 * so with many frames it would take minutes.
 */
export async function countWebpFrames(path: string, upTo: number): Promise<number> {
  const file = await open(path);
  try {
    const header = Buffer.alloc(8);
    let frames = 0;
    // The chunks follow the container header of twelve bytes.
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
