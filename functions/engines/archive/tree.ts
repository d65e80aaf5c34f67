import { chmod, lstat, readdir, readlink, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../runtime/engine.ts';
import { allowance, maxEntries, tooLarge, tooMany } from './limits.ts';
import { leadsOutside, linkOutside, show } from './listing.ts';
import { decodeName, decodeUtf8 } from './names.ts';

export interface Tree {
  /** Paths relative to the root: files and links, and every folder. */
  files: string[];
  folders: string[];
  bytes: number;
}

/**
 * Inspects the files that were actually unpacked, regardless of the archive's headers, and rejects those that must not be packed
 * again. Renames files with names that are not UTF-8, decoding them in an encoding.
 */
export async function inspect(root: string, archiveBytes: number, encoding = 'ibm437'): Promise<Tree> {
  const tree: Tree = { files: [], folders: [], bytes: 0 };
  const inodes = new Map<number, { expected: number; found: number; path: string }>();
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const raw of await readdir(join(root, folder), { encoding: 'buffer' })) {
      const name = decodeUtf8(raw) ?? (await renamed(join(root, folder), raw, encoding));
      const path = folder === '' ? name : `${folder}/${name}`;
      const state = await lstat(join(root, path));
      if (state.isSymbolicLink()) {
        if (leadsOutside(path, await readlink(join(root, path)))) throw linkOutside(path);
        tree.files.push(path);
      } else if (state.isDirectory()) {
        // Unreadable folders and setuid bits are not useful in the output.
        await chmod(join(root, path), (state.mode & 0o777) | 0o700);
        tree.folders.push(path);
        pending.push(path);
      } else if (state.isFile()) {
        if ((state.mode & 0o7777) !== ((state.mode & 0o777) | 0o600))
          await chmod(join(root, path), (state.mode & 0o777) | 0o600);
        const links = inodes.get(state.ino) ?? { expected: state.nlink, found: 0, path };
        if (links.found === 0) tree.bytes += state.size;
        links.found += 1;
        inodes.set(state.ino, links);
        tree.files.push(path);
      } else {
        throw new EngineError(
          `The archive contains ${show(path)}, which is a device or pipe, not a file. Remove it and try again.`,
        );
      }
      if (tree.files.length + tree.folders.length > maxEntries) throw tooMany();
      if (tree.bytes > allowance(archiveBytes)) throw tooLarge(archiveBytes);
    }
  }
  for (const { expected, found, path } of inodes.values()) if (expected !== found) throw linkOutside(path);
  return tree;
}

/** Renames a file to its name decoded in an encoding, and returns the name. */
async function renamed(folder: string, raw: Buffer, encoding: string): Promise<string> {
  const name = decodeName(encoding, raw);
  if (name === '' || /^\.\.?$|[/\0]/.test(name))
    throw new EngineError(`The archive contains the name ${show(name)}, which is not a valid file name.`);
  const from = Buffer.concat([Buffer.from(`${folder}/`), raw]);
  const to = join(folder, name);
  if (await isThere(to)) throw new EngineError(`The archive contains ${show(name)} twice. Remove one of them.`);
  await rename(from, to);
  return name;
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Returns the total size of a growing folder. Files that disappear meanwhile count as zero. */
export async function bytesWithin(root: string): Promise<number> {
  let bytes = 0;
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of found) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) pending.push(path);
      else
        bytes += await lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
    }
  }
  return bytes;
}
