/** A store that receives content in parts, and publishes it only when complete. */
export interface PartStore {
  /** Stores content that is small enough for one request. */
  putWhole(body: Buffer): Promise<unknown>;
  /** Stores a part; parts are numbered from 1, and several are sent in parallel. */
  putPart(number: number, body: Buffer): Promise<void>;
  /** Combines the parts into one object. */
  complete(): Promise<void>;
  /** Discards the parts on a best-effort basis. */
  abort(): Promise<void>;
}

/** Memory for the parts in flight. Large parts are sent one by one. */
const maxBytesInFlight = 64 * 1024 * 1024;

/**
 * Stores content of any size in parts and returns its size. Reuses a few buffers, because a new one per part, as in
 * libraries, creates garbage faster than it is collected. Incomplete content is discarded.
 */
export async function storeInParts(
  store: PartStore,
  content: AsyncIterable<Uint8Array>,
  { partBytes, partsAtOnce, signal }: { partBytes: number; partsAtOnce: number; signal: AbortSignal },
): Promise<number> {
  signal.throwIfAborted();
  const atOnce = Math.max(1, Math.min(partsAtOnce, Math.floor(maxBytesInFlight / partBytes)));
  const free: Buffer[] = [];
  const inFlight = new Set<Promise<void>>();
  let buffer: Buffer = Buffer.allocUnsafeSlow(partBytes);
  let filled = 0;
  let size = 0;
  let parts = 0;
  const send = async () => {
    const sent = buffer;
    const part = store.putPart(++parts, sent.subarray(0, filled)).then(() => void free.push(sent));
    const settled = part.finally(() => inFlight.delete(settled));
    // The next await receives a failure; until then it must not count as unhandled.
    settled.catch(() => undefined);
    inFlight.add(settled);
    if (inFlight.size >= atOnce) await Promise.race(inFlight);
    buffer = free.pop() ?? Buffer.allocUnsafeSlow(partBytes);
    filled = 0;
  };
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      for (let offset = 0; offset < chunk.length; ) {
        // Deferred until there is more content, because a single part needs no multipart upload.
        if (filled === partBytes) await send();
        const taken = Math.min(partBytes - filled, chunk.length - offset);
        buffer.set(chunk.subarray(offset, offset + taken), filled);
        filled += taken;
        offset += taken;
      }
      size += chunk.length;
    }
    if (size <= partBytes) {
      await store.putWhole(buffer.subarray(0, filled));
      return size;
    }
    await send();
    await Promise.all(inFlight);
    await store.complete();
    return size;
  } catch (error) {
    await Promise.allSettled(inFlight);
    await store.abort();
    throw error;
  }
}
