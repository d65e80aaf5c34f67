import { type Dirent, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { exists, extensionOf } from '../node/paths.ts';
import { isWebAddress } from '../source.ts';
import { isStandard } from './standard-streams.ts';
import { UsageError } from './usage.ts';

export interface FoundInput {
  /** A path or a URL. */
  input: string;
  /** Path relative to the given folder or URL, which the output keeps relative to --out. */
  place: string;
}

export interface SkippedInput {
  input: string;
  reason: string;
}

/** Resolves arguments to inputs: files, URLs, the contents of folders, and matches of patterns. */
export async function findInputs(
  words: string[],
  refusalOf: (extension: string) => string | undefined,
): Promise<{ inputs: FoundInput[]; skipped: SkippedInput[] }> {
  const found: FoundInput[] = [];
  const skipped: SkippedInput[] = [];
  for (const word of words) {
    if (isStandard(word)) found.push({ input: word, place: 'stdin' });
    else if (isWebAddress(word)) found.push({ input: word, place: nameInUrl(word) });
    else if (isFolder(word))
      for (const path of await filesBelow(word, () => true, skipped)) {
        const extension = extensionOf(path);
        const reason = extension === '' ? 'its name has no extension' : refusalOf(extension);
        if (reason === undefined) found.push({ input: path, place: relative(word, path) });
        else skipped.push({ input: path, reason });
      }
    else if (exists(word) || !isPattern(word)) found.push({ input: word, place: basename(word) });
    else found.push(...(await matches(word)));
  }
  const seen = new Set<string>();
  const sourceOf = (input: string) => (isWebAddress(input) ? input : resolve(input));
  return {
    inputs: found.filter(({ input }) => !seen.has(sourceOf(input)) && seen.add(sourceOf(input))),
    skipped,
  };
}

/** Returns whether a path is a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Lists the files in a folder by name, recursively in folders that `enters` accepts, and what it skips. */
async function filesBelow(
  folder: string,
  enters: (path: string) => boolean,
  skipped: SkippedInput[] = [],
): Promise<string[]> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.')) skipped.push({ input: path, reason: 'it is hidden' });
    else if (entry.isDirectory()) files.push(...(enters(path) ? await filesBelow(path, enters, skipped) : []));
    else if (entry.isFile()) files.push(path);
    else skipped.push({ input: path, reason: entry.isSymbolicLink() ? 'it is a link' : 'it is not a regular file' });
  }
  return files;
}

function nameInUrl(url: string): string {
  const { hostname, pathname } = new URL(url);
  const name = basename(decodeURI(pathname)).replace(/[\p{Cc}/\\]/gu, '_');
  return name || hostname;
}

/** Returns whether an argument is a pattern such as *.heic. */
export function isPattern(word: string): boolean {
  return /[*?{[]/.test(word);
}

async function matches(pattern: string): Promise<FoundInput[]> {
  const parts = pattern.split(/[/\\]/);
  const fixed = parts.slice(0, parts.findIndex(isPattern)).join(sep);
  const start = fixed === '' && pattern.startsWith('/') ? '/' : fixed || '.';
  const expression = expressionOf(pattern);
  const isDeep = pattern.includes('**');
  const enters = (path: string) => isDeep || depthOf(path) < parts.length;
  const files = isFolder(start) ? await filesBelow(start, enters) : [];
  const found = files.filter((path) => expression.test(path.split(sep).join('/')));
  if (found.length === 0) throw new UsageError(`No file matches ${pattern}.`);
  return found.map((path) => ({ input: path, place: relative(start, path) }));
}

function depthOf(path: string): number {
  return path.split(sep).length;
}

/** Converts a shell pattern to a regular expression: *, **, ?, [a-z] and {a,b}. */
function expressionOf(pattern: string): RegExp {
  const source = pattern
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .replace(/[.+^$()|]/g, '\\$&')
    .replace(/\{([^{}]*)\}/g, (_match, list: string) => `(?:${list.replaceAll(',', '|')})`)
    .replace(/\*\*\/|\*\*|\*|(?<!\()\?/g, (wild) => wilds[wild] ?? wild)
    .replace(/\[!/g, '[^');
  return new RegExp(`^${source}$`, 'u');
}

const wilds: Record<string, string> = { '**/': '(?:[^/]+/)*', '**': '.*', '*': '[^/]*', '?': '[^/]' };
