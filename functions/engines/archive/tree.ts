import { chmod, lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../runtime/engine.ts';
import { allowance, maxEntries, tooLarge, tooMany } from './limits.ts';
import { leadsOutside, linkOutside, show } from './listing.ts';

export interface Tree {
  /** Paths relative to the root: files and links, and every folder. */
  files: string[];
  folders: string[];
  bytes: number;
}

/** Inspects what was actually unpacked, whatever the archive's headers declared, and rejects what must not be packed again. */
export async function inspect(root: string, archiveBytes: number): Promise<Tree> {
  const tree: Tree = { files: [], folders: [], bytes: 0 };
  const inodes = new Map<number, { expected: number; found: number; path: string }>();
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const name of await readdir(join(root, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (path.includes('\ufffd'))
        throw new EngineError(`The archive contains a name that is not valid UTF-8: ${show(path)}. Rename that entry.`);
      const state = await lstat(join(root, path));
      if (state.isSymbolicLink()) {
        if (leadsOutside(path, await readlink(join(root, path)))) throw linkOutside(path);
        tree.files.push(path);
      } else if (state.isDirectory()) {
        // Unreadable folders and setuid bits are of no use in the output.
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

/** Returns the total size of a growing folder; files that disappear meanwhile count as zero. */
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
