import { requiredBuiltin } from './builtins.ts';
import { LatheError } from './errors.ts';
import { pause, pauseBefore } from './retry.ts';
import { chunksOf } from './source.ts';
import { reasonOf, type Transport } from './transport.ts';
import type { ResultFile, TransferOptions } from './types.ts';

/** A result file, or a link to one. */
export type Link = ResultFile | string | URL;

/** The used part of a Node stream. */
export interface NodeWritable {
  write(chunk: Uint8Array, done: (error?: Error | null) => void): boolean;
  end(done: () => void): unknown;
}

/** The target of a download: a path (in Node), or a stream, which is closed at the end. */
export type Target = string | URL | WritableStream<Uint8Array> | NodeWritable;

export interface DownloadOptions extends TransferOptions {
  /** Whether to overwrite an existing file; defaults to true. */
  overwrite?: boolean | undefined;
}

/** Reads a file in chunks, and resumes if the connection is lost. */
export async function* readFile(
  transport: Transport,
  link: Link,
  { signal, onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array> {
  if (typeof link === 'object' && 'content' in link && link.content) return yield* chunksOf(link.content.stream());
  const url = linkOf(link);
  let total = typeof link === 'object' && 'size' in link ? link.size : undefined;
  let loaded = 0;
  for (let failures = 0; ; ) {
    const response = await transport.send(url, { signal, headers: loaded > 0 ? { range: `bytes=${loaded}-` } : {} });
    if (loaded > 0 && response.status !== 206)
      throw new LatheError('invalid_response', `${url} cannot be resumed at byte ${loaded}.`, {
        status: response.status,
      });
    total ??= Number(response.headers.get('content-length') ?? Number.NaN);
    const chunks = chunksOf(response.body ?? emptyStream());
    for (;;) {
      const next = await chunks.next().catch((error: unknown) => ({ error }));
      signal?.throwIfAborted();
      if ('error' in next || (next.done && loaded < total)) {
        failures += 1;
        const cause = 'error' in next ? next.error : new Error(`It ended after ${loaded} of ${total} bytes.`);
        if (failures > transport.policy.retries)
          throw new LatheError('unreachable', `The download of ${url} failed (${reasonOf(cause)}).`, { cause });
        await pause(pauseBefore(failures, transport.policy), signal);
        break;
      }
      if (next.done) return;
      failures = 0;
      loaded += next.value.length;
      onProgress?.({ loaded, total: Number.isNaN(total) ? undefined : total });
      yield next.value;
    }
  }
}

function linkOf(link: Link): string {
  return typeof link === 'object' && 'filename' in link ? link.url : String(link);
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

/** Writes a file to a path or stream. A path appears only when the file is complete. */
export async function writeFile(
  chunks: AsyncIterable<Uint8Array>,
  target: Target,
  { overwrite = true }: Pick<DownloadOptions, 'overwrite'> = {},
): Promise<void> {
  if (typeof target === 'string' || target instanceof URL) return writePath(chunks, target, overwrite);
  if ('getWriter' in target) return writeStream(chunks, target);
  for await (const chunk of chunks)
    await new Promise<void>((resolve, reject) => {
      target.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  await new Promise<void>((resolve) => {
    target.end(resolve);
  });
}

async function writeStream(chunks: AsyncIterable<Uint8Array>, stream: WritableStream<Uint8Array>): Promise<void> {
  const writer = stream.getWriter();
  try {
    for await (const chunk of chunks) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
}

async function writePath(chunks: AsyncIterable<Uint8Array>, target: string | URL, overwrite: boolean): Promise<void> {
  const purpose = 'Writing a file by its path';
  const fs = requiredBuiltin('node:fs/promises', purpose);
  const { basename, dirname, join } = requiredBuiltin('node:path', purpose);
  const path = target instanceof URL ? requiredBuiltin('node:url', purpose).fileURLToPath(target) : target;
  const random = crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36);
  const draft = join(dirname(path), `.${basename(path).slice(0, 200)}.${random}.part`);
  const file = await fs.open(draft, 'wx');
  try {
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
    if (overwrite) await fs.rename(draft, path);
    else await publish(fs, draft, path);
  } finally {
    await fs.rm(draft, { force: true });
  }
}

/** Renames the draft, or fails if the path exists by now. */
async function publish(fs: typeof import('node:fs/promises'), draft: string, path: string): Promise<void> {
  try {
    await fs.link(draft, path);
  } catch (error) {
    // Some file systems, such as exFAT, have no hard links.
    if (!(error instanceof Error && 'code' in error) || error.code === 'EEXIST' || error.code === 'ENOENT') throw error;
    await fs.copyFile(draft, path, fs.constants.COPYFILE_EXCL);
  }
}
