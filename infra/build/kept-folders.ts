import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const keptMs = 24 * 60 * 60 * 1000;

/** Removes entries of a folder that have not changed for a day. */
export function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changed + keptMs < Date.now()) rmSync(path, { recursive: true, force: true });
  }
}

/** Keeps an entry of such a folder for another day. */
export function markAsUsed(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

/** Moves a finished draft to its final place atomically. */
export function publish(draft: string, place: string): void {
  try {
    renameSync(draft, place);
  } catch (error) {
    // Another process was faster, with the same content.
    if (!existsSync(place)) throw error;
  }
}
