import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import { synthesize } from './synth.ts';

/** What the template is made of. Functions run from source, so a change inside one needs no new template; a new route or engine does. */
const sources = ['cdk.json', 'package-lock.json', 'package.json', 'infra', 'functions', 'shared'];
/** Folders among them that only read the template. */
const readers = new Set(['infra/local', 'infra/setup']);
const folder = join(projectRoot, 'cdk.out/local');
const keptMs = 24 * 60 * 60 * 1000;

/**
 * Returns the path of the stack's template, synthesized anew only when something it is made of has changed.
 * Each state of the sources has a file of its own that appears whole, so that several may start at once.
 */
export async function currentTemplate(): Promise<string> {
  const template = join(folder, `${fingerprint()}.template.json`);
  if (existsSync(template)) return template;
  mkdirSync(folder, { recursive: true });
  removeOld();
  const draft = join(folder, `draft-${process.pid}`);
  try {
    renameSync(await synthesize(draft), template);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return template;
}

function removeOld(): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changed + keptMs < Date.now()) rmSync(path, { recursive: true, force: true });
  }
}

function fingerprint(): string {
  const hash = createHash('sha256');
  const add = (path: string) => {
    const full = join(projectRoot, path);
    if (readers.has(path)) return;
    if (statSync(full).isDirectory()) for (const entry of readdirSync(full).sort()) add(join(path, entry));
    else hash.update(path).update(readFileSync(full));
  };
  for (const source of sources) add(source);
  return hash.digest('hex');
}
