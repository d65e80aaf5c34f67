import { PassThrough, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

export interface ZipEntry {
  name: string;
  compress: boolean;
  open(): Promise<Readable>;
}

/** Streams a ZIP of entries. Each source is opened only when it is next, so that none times out while waiting. */
export function zipStream(entries: ZipEntry[], onBytes: (bytes: number) => void): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
  zip.outputStream.pipe(output);
  zip.on('error', (error) => output.destroy(error instanceof Error ? error : new Error(String(error))));
  const fill = async () => {
    for (const entry of entries) {
      const source = await entry.open();
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          onBytes(chunk.length);
          done(null, chunk);
        },
      });
      zip.addReadStream(counted, entry.name, { compress: entry.compress, mtime: new Date() });
      await pipeline(source, counted);
    }
    zip.end();
  };
  fill().catch((error) => output.destroy(error instanceof Error ? error : new Error(String(error))));
  return output;
}
