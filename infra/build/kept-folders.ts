import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const keptMs = 24 * 60 * 60 * 1000;

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
