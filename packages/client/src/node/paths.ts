import { statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

/** Returns the extension of a name, in lower case and without a dot. */
export function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** Tells whether something is at a path. */
export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Returns a path without its extension. */
export function stemOf(path: string): string {
  return join(dirname(path), basename(path, extname(path)));
}

/** Returns the paths of several files of one output: out.jpg becomes out-1.jpg, out-2.jpg. */
export function numbered(output: string, count: number): string[] {
  if (count === 1) return [output];
  const extension = extname(output);
  const width = String(count).length;
  return Array.from(
    { length: count },
    (_value, index) => `${stemOf(output)}-${String(index + 1).padStart(width, '0')}${extension}`,
  );
}
