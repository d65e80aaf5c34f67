import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';

/** Opens a ZIP and returns its entries by name. */
export async function readZip(zip: Buffer): Promise<Map<string, Buffer>> {
  const file = await fromBufferPromise(zip, { lazyEntries: true, strictFileNames: true });
  const entries = new Map<string, Buffer>();
  for await (const entry of file.eachEntry()) {
    entries.set(entry.fileName, await buffer(await file.openReadStreamPromise(entry)));
  }
  return entries;
}
