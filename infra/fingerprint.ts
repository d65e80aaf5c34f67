import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './bundling.ts';

/** Returns a hash over files and folders of the project, given relative to its root, without excluded folders. */
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
