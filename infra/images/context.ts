import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import { installationOf, type LockFile } from './lock-file.ts';
import { moduleGraph } from './module-graph.ts';

const entries = ['packages/runtime-client/src/main.ts', 'functions/engines/runtime/job/main.ts'];
export const dockerfile = 'functions/engines/Dockerfile';
const packageLists = ['packages.txt', 'packages-optional.txt'];

/** A build context: files by path, as text or as the path of a file to copy. */
interface Context {
  texts: Record<string, string>;
  copies: string[];
}

/**
 * Writes the build context of an engine's image, which holds only what the engine loads, so that the image changes only
 * with its engine. Returns its folder, which is named by content and created once.
 */
export function stageContext(folder: string, root = projectRoot): string {
  const context = contextOf(folder, root);
  const parent = join(root, 'cdk.out/images');
  const staged = join(parent, `${basename(folder)}-${fingerprint(context, root)}`);
  if (existsSync(staged)) return staged;
  mkdirSync(parent, { recursive: true });
  const draft = mkdtempSync(`${staged}.`);
  try {
    for (const path of context.copies) cpSync(join(root, path), join(draft, path));
    for (const [path, text] of Object.entries(context.texts)) {
      mkdirSync(dirname(join(draft, path)), { recursive: true });
      writeFileSync(join(draft, path), text);
    }
    renameSync(draft, staged);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process may have been faster, with the same content.
    if (!existsSync(staged)) throw error;
  }
  return staged;
}

function contextOf(folder: string, root: string): Context {
  const graph = moduleGraph(root, [...entries, `${folder}/handler.ts`]);
  const lock: LockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { packageJson, lockFile } = installationOf(`lathe-${basename(folder)}`, lock, graph.packages);
  return {
    copies: graph.files,
    texts: {
      Dockerfile: readFileSync(join(root, dockerfile), 'utf8'),
      'package.json': `${JSON.stringify(packageJson, null, 2)}\n`,
      'package-lock.json': `${JSON.stringify(lockFile, null, 2)}\n`,
      'packages.txt': `${debianPackages(join(root, folder)).join('\n')}\n`,
    },
  };
}

/** Returns the Debian packages of an engine, with those that local setup omits by default. */
export function debianPackages(folder: string): string[] {
  const lines = packageLists
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .map((line) => line.trim());
  return [...new Set(lines.filter((line) => line && !line.startsWith('#')))].sort();
}

function fingerprint({ texts, copies }: Context, root: string): string {
  const hash = createHash('sha256');
  const add = (path: string, content: string | Uint8Array) =>
    hash.update(`${path}\0${content.length}\0`).update(content);
  for (const path of copies) add(path, readFileSync(join(root, path)));
  for (const path of Object.keys(texts).sort()) add(path, texts[path] ?? '');
  return hash.digest('hex').slice(0, 16);
}
