import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Content } from './remote-files.ts';

/** Returns a ZIP of files, without compression: its size is then known before any of them is read. */
export function zipOf(files: { name: string; content: Content }[]): Promise<Content> {
  const mtime = new Date();
  const isUnchanged = () => files.every(({ content }) => content.isUnchanged());
  const start = (onSize?: (size: number) => void) => {
    const zip = new ZipFile();
    for (const { name, content } of files)
      zip.addReadStreamLazy(name, { compress: false, size: content.size, mtime }, (ready) =>
        ready(null, Readable.from(content.chunks(), { objectMode: false })),
      );
    // The types of the package leave out the argument of the callback.
    zip.end({ forceZip64Format: false, comment: '' }, onSize as () => void);
    const output = Readable.from(zip.outputStream, { objectMode: false });
    zip.on('error', (error) => output.destroy(error instanceof Error ? error : new Error(String(error))));
    return output;
  };
  return new Promise((resolve) => start((size) => resolve({ size, isUnchanged, chunks: () => start() })));
}
