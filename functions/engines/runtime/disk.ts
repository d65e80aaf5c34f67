import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { storeStream, streamObject } from '../../../shared/aws/streams.ts';

/** Fetches an object to a file on disk. */
export async function fetchToDisk(key: string, path: string, signal: AbortSignal): Promise<void> {
  await pipeline(await streamObject(key, signal), createWriteStream(path), { signal });
}

/** Stores a file from disk and returns its size. */
export function storeFromDisk(path: string, key: string, mediaType: string, signal: AbortSignal): Promise<number> {
  return storeStream(createReadStream(path), key, mediaType, signal);
}
