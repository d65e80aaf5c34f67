import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Content } from './remote-files.ts';

/** Returns a ZIP of files, without compression: its size is then known before any of them is read. */
export function zipOf(files: { name: string; content: Content }[]): Promise<Content> {
  const mtime = new Date();
  const isUnchanged = () => files.every(({ content }) => content.isUnchanged());
  const start = (onSize?: (size: number) => void) => {
    const zip = new ZipFile();
    // Destroying the stream that is returned would wait for the next chunk of this one.
    const fail = (error: unknown) => zip.outputStream.emit('error', error);
    for (const { name, content } of files)
      zip.addReadStreamLazy(name, { compress: false, size: content.size, mtime }, (ready) => {
        // For the size alone nothing is read: nobody would notice a file that changes, or its closing.
        if (onSize) return;
        const file = Readable.from(content.chunks(), { objectMode: false });
        ready(null, file.on('error', fail));
      });
    // The types of the package leave out the argument of the callback.
    zip.end({ forceZip64Format: false, comment: '' }, onSize as () => void);
    zip.on('error', fail);
    return Readable.from(zip.outputStream, { objectMode: false });
  };
  return new Promise((resolve) => start((size) => resolve({ size, isUnchanged, chunks: () => start() })));
}
