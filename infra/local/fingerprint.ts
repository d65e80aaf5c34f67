import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../bundling.ts';

const keptMs = 24 * 60 * 60 * 1000;

/** Returns a hash over files and folders of the project, named from its root, without the folders to leave out. */
export function fingerprint(sources: string[], without: ReadonlySet<string> = new Set()): string {
  const hash = createHash('sha256');
  const add = (path: string) => {
    const full = join(projectRoot, path);
    if (without.has(path)) return;
    if (statSync(full).isDirectory()) for (const entry of readdirSync(full).sort()) add(join(path, entry));
    else hash.update(path).update(readFileSync(full));
  };
  for (const source of sources) add(source);
  return hash.digest('hex');
}

/** Removes what has been in a folder unchanged for a day. */
export function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changed + keptMs < Date.now()) rmSync(path, { recursive: true, force: true });
  }
}

/** Keeps what is in such a folder for another day. */
export function markAsUsed(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

/** Moves what was made to its place, where it appears whole. */
export function publish(draft: string, place: string): void {
  try {
    renameSync(draft, place);
  } catch (error) {
    // Another process was faster, with the same content.
    if (!existsSync(place)) throw error;
  }
}
