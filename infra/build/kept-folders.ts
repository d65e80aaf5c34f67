import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const keptMs = 24 * 60 * 60 * 1000;

/** Runs work with a draft folder in a cache, after removing entries of the cache that have not been used for a day. */
export async function withDraft(cache: string, work: (draft: string) => Promise<void>): Promise<void> {
  removeOld(cache);
  const draft = mkdtempSync(join(cache, 'draft-'));
  try {
    await work(draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changed + keptMs < Date.now()) rmSync(path, { recursive: true, force: true });
  }
}

/** Keeps an entry of a cache for another day. */
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
