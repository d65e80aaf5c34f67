/** A store that receives content in parts, and shows it only when it is complete. */
export interface PartStore {
  /** Stores content that is small enough for one request. */
  putWhole(body: Buffer): Promise<unknown>;
  /** Stores a part; parts are numbered from 1, and several are sent in parallel. */
  putPart(number: number, body: Buffer): Promise<void>;
  /** Makes one object of the parts. */
  complete(): Promise<void>;
  /** Discards the parts, as far as that can be done. */
  abort(): Promise<void>;
}

export interface PartOptions {
  partBytes: number;
  partsAtOnce: number;
  signal: AbortSignal;
}

/**
 * Stores content of any size in parts and returns its size. The parts pass through a few reused buffers: a new one for
 * each, as libraries make it, is garbage that piles up faster than it is collected.
 * What is stored is complete; of content that breaks off nothing is kept.
 */
export async function storeInParts(
  store: PartStore,
  content: AsyncIterable<Uint8Array>,
  { partBytes, partsAtOnce, signal }: PartOptions,
): Promise<number> {
  signal.throwIfAborted();
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
    // The next wait receives a failure; until then it must not count as unhandled.
    settled.catch(() => undefined);
    inFlight.add(settled);
    if (inFlight.size >= partsAtOnce) await Promise.race(inFlight);
    buffer = free.pop() ?? Buffer.allocUnsafeSlow(partBytes);
    filled = 0;
  };
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      for (let offset = 0; offset < chunk.length; ) {
        // Only now, when there is more: the last part may be the first and need no parts at all.
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
