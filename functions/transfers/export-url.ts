import { PassThrough, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { newToken } from '../../shared/aws/objects.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { outputKey } from '../../shared/files/keys.ts';
import { exportedNames, safeName, uniqueNames, withExtension } from '../../shared/files/names.ts';
import { totalBytes } from '../../shared/files/total-bytes.ts';
import { filesAtOnce } from '../../shared/tasks/limits.ts';
import type { StoredFile } from '../../shared/tasks/task.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import { checkFileCount } from '../engines/runtime/outputs.ts';
import type { Run, RunResult } from '../worker/worker.ts';
import { copyFile } from './copy-file.ts';
import { storeStream, streamObject } from './streams.ts';

/**
 * Copies or archives the input's files under the export task, so that its links stay valid as long as the task, even if the
 * input tasks are deleted.
 */
export async function exportUrl(run: Run): Promise<RunResult> {
  const files = run.inputs.flatMap((input) => input.files);
  if (files.length === 0) throw new EngineError('The input tasks have no file to export.');
  return {
    files: run.task.payload.archive_multiple_files === true ? [await pack(run, files)] : await copy(run, files),
  };
}

async function copy(run: Run, files: StoredFile[]): Promise<StoredFile[]> {
  const names = exportedNames(files, run.task.payload.filename);
  checkFileCount(files.length, 'Set archive_multiple_files, or split the inputs across several tasks.');
  return mapAtOnce(files, filesAtOnce, async (file, index): Promise<StoredFile> => {
    const key = outputKey(run.task.id, run.attempt, index);
    await copyFile(file, key, run.signal);
    return { ...file, key, name: names[index] ?? file.name, token: newToken() };
  });
}

async function pack(run: Run, files: StoredFile[]): Promise<StoredFile> {
  const { filename } = run.task.payload;
  const names = uniqueNames(files.map((file) => file.name));
  const key = outputKey(run.task.id, run.attempt, 0);
  const total = totalBytes(files);
  let packed = 0;
  const zip = zipStream(
    files.map((file, index) => ({
      name: names[index] ?? file.name,
      // Media and archives are already compressed.
      compress: !/^(?:image|video|audio)\/|zip|compressed/.test(file.mediaType),
      open: () => streamObject(file.key, run.signal),
    })),
    (bytes) => {
      packed += bytes;
      run.progress((packed / Math.max(1, total)) * 100);
    },
  );
  // Compression makes noise larger by far less, and 500 entries describe themselves in less than a megabyte.
  const maxBytes = Math.ceil(total * 1.01) + 1_000_000;
  const size = await storeStream(zip, key, 'application/zip', { maxBytes, signal: run.signal });
  const name = typeof filename === 'string' ? withExtension(safeName(filename), 'zip') : 'files.zip';
  return { key, name, size, format: 'zip', mediaType: 'application/zip', token: newToken() };
}

interface ZipEntry {
  name: string;
  compress: boolean;
  open(): Promise<Readable>;
}

/** Streams a ZIP of entries. Each source is opened only when it is next, so that none times out while waiting. */
function zipStream(entries: ZipEntry[], onBytes: (bytes: number) => void): Readable {
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
