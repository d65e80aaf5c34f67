import { appendFile, constants, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { safeName } from '../../../shared/files/names.ts';
import { EngineError, type InputFile, type WorkContext } from '../runtime/engine.ts';
import { ProgramError } from '../runtime/program.ts';
import { type ArchiveFormat, archiveFormats } from './formats.ts';
import { runLimited } from './limited.ts';
import { allowance, tooLarge } from './limits.ts';
import { type Entry, explain, type ListingRequest, lastLines, list } from './listing.ts';
import { rarState } from './rar.ts';
import { bytesWithin, inspect, type Tree } from './tree.ts';

export interface Unpacked {
  root: string;
  tree: Tree;
  /** Paths in the order of the archive. */
  order: string[];
  warnings: string[];
}

/** Unpacks an archive into a separate folder under `folder`, within the limits. */
export async function unpack(
  input: InputFile,
  { password, encoding }: { password: string; encoding: string },
  folder: string,
  context: WorkContext,
): Promise<Unpacked> {
  const format = archiveFormats[input.format];
  if (!format) throw new Error(`The catalogue lists ${input.format}, which this engine does not read.`);
  await mkdir(folder, { recursive: true });
  const root = join(folder, 'tree');
  await mkdir(root);
  const { path, type } = await opened(input, format, folder, context);
  if (type === undefined) {
    const name = contentName(input.name);
    await rename(path, join(root, name));
    return { root, tree: await inspect(root, input.size), order: [name], warnings: [] };
  }
  const request = { path, type, archiveBytes: input.size, password, cwd: folder };
  const { entries, reading } = await list(request, encoding, context);
  if (entries.length === 0) throw new EngineError('The archive is empty: it contains no files.');
  await extract(request, root, context);
  if (path !== input.path) await rm(path);
  const tree = await checked(root, input, entries, reading?.encoding);
  const warnings = reading && !reading.isSure ? [unsure(reading.encoding)] : [];
  return { root, tree, order: entries.map((entry) => entry.path), warnings };
}

function unsure(encoding: string): string {
  return `The archive does not say how its file names are encoded; they were read as ${encoding}. If they look wrong, set input_encoding.`;
}

async function checked(root: string, input: InputFile, entries: Entry[], encoding: string | undefined): Promise<Tree> {
  const tree = await inspect(root, input.size, encoding);
  const expected = entries.filter(({ isFolder }) => !isFolder).length;
  if (tree.files.length < expected)
    throw new EngineError('The archive could not be unpacked completely: it is damaged, or names in it conflict.', {
      detail: `${tree.files.length} of ${expected} files unpacked`,
    });
  return tree;
}

/** Returns an archive that 7-Zip can list: the tar in a compressed stream, or a tar of a format that only libarchive reads. */
async function opened(
  input: InputFile,
  { type, stream }: ArchiveFormat,
  folder: string,
  context: WorkContext,
): Promise<{ path: string; type: string | undefined }> {
  if (type === undefined) return { path: await toTar(input, folder, context), type: 'tar' };
  if (!stream) return { path: input.path, type };
  const path = await decompress(input, type, folder, context);
  return { path, type: (await isTar(path)) ? 'tar' : undefined };
}

/** Copies entries into a tar without writing any of their names to disk. */
async function toTar(input: InputFile, folder: string, context: WorkContext): Promise<string> {
  const path = join(folder, 'entries.tar');
  const limit = allowance(input.size);
  await refuseUnreadable(input);
  const source = await withoutTrailingZip(input, `${folder}-padded`);
  const args = ['-c', '-f', path, '--format=pax', `@${source}`];
  const bounds = { archiveBytes: input.size, folder };
  try {
    const { stderr } = await runLimited('bsdtar', args, bounds, {
      cwd: folder,
      signal: context.signal,
      env: { LC_ALL: 'C.UTF-8' },
      // It would prompt for a passphrase on the terminal, which does not exist here.
      input: '',
    });
    // libarchive skips an entry that does not fit into a tar with a warning, so a file would be lost silently.
    if (stderr.includes('cannot archive'))
      throw new EngineError('The archive contains an entry that is not a file, folder or link.', {
        detail: lastLines(stderr),
      });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if ((await sizeOf(path)) >= limit) throw tooLarge(input.size);
    const detail = lastLines(error.stderr);
    if (/encrypt|passphrase/i.test(detail)) throw locked(input, { detail, cause: error });
    throw new EngineError(`The file could not be read as ${input.format}: it is damaged or incomplete.`, {
      detail,
      cause: error,
    });
  } finally {
    if (source !== input.path) await rm(source);
  }
  return path;
}

/**
 * Libarchive reads any file that ends in a zip's directory as a zip, including a rar with a stored zip as its last member. It
 * searches for the directory no further than this from the end, so such a file is read from a padded copy.
 */
async function withoutTrailingZip(input: InputFile, padded: string): Promise<string> {
  const reach = 65_536 + 22;
  const file = await open(input.path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(reach), 0, reach, Math.max(0, input.size - reach));
    if (!buffer.subarray(0, bytesRead).includes('PK\x05\x06')) return input.path;
  } finally {
    await file.close();
  }
  await copyFile(input.path, padded, constants.COPYFILE_FICLONE);
  await appendFile(padded, Buffer.alloc(reach));
  return padded;
}

async function refuseUnreadable(input: InputFile): Promise<void> {
  const { isEncrypted, isVolume } = await rarState(input.path);
  if (isEncrypted) throw locked(input);
  if (isVolume)
    throw new EngineError('The archive is one volume of several. Pack its files into a single archive first.');
}

function locked({ format }: InputFile, options: { detail?: string; cause?: unknown } = {}): EngineError {
  return new EngineError(
    `The archive is password-protected, which is not supported for ${format}. Remove the password first.`,
    options,
  );
}

async function decompress(input: InputFile, type: string, folder: string, context: WorkContext): Promise<string> {
  const target = join(folder, 'stream');
  await mkdir(target);
  const limit = allowance(input.size);
  try {
    const args = ['e', '-y', '-bd', '-p', `-t${type}`, `-o${target}`, '--', input.path];
    const bounds = { archiveBytes: input.size, folder: target };
    await runLimited('7zz', args, bounds, { cwd: folder, signal: context.signal });
  } catch (error) {
    if ((await bytesWithin(target)) >= limit) throw tooLarge(input.size);
    throw explain(error, '');
  }
  const [name, ...others] = await readdir(target);
  if (name === undefined || others.length > 0)
    throw new EngineError(`The file could not be read as ${input.format}: it is damaged or incomplete.`);
  // The file name inside the stream is not trusted as a path.
  const path = join(folder, 'content');
  await rename(join(target, name), path);
  return path;
}

async function extract(
  { archiveBytes, path, type, password, cwd }: ListingRequest,
  root: string,
  context: WorkContext,
): Promise<void> {
  const args = ['x', '-y', '-bd', `-t${type}`, `-p${password}`, `-o${root}`, '--', path];
  try {
    await runLimited('7zz', args, { archiveBytes, folder: root, watched: true }, { cwd, signal: context.signal });
  } catch (error) {
    context.signal.throwIfAborted();
    if ((await bytesWithin(root)) >= allowance(archiveBytes)) throw tooLarge(archiveBytes);
    throw explain(error, password);
  }
}

async function isTar(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(5), 0, 5, 257);
    return buffer.toString('latin1', 0, bytesRead) === 'ustar';
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Returns the name of the file in a compressed stream: the stream's name without the compression extension. */
function contentName(name: string): string {
  return safeName(name.replace(/\.(?:gz|gzip|bz2|xz|zst|zstd|lzma|z)$/i, ''), 'file');
}
