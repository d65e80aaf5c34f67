import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import { fingerprint, removeOld } from './fingerprint.ts';
import { synthesize } from './synth.ts';

/** What the template is made of. */
const sources = ['cdk.json', 'package-lock.json', 'package.json', 'infra', 'functions', 'layers', 'shared'];
/** Folders among them that only read the template. */
const readers = new Set(['infra/local', 'infra/setup']);
const folder = join(projectRoot, 'cdk.out/local');

/**
 * Returns the path of the stack's template, synthesized anew only when something it is made of has changed.
 * Each state of the sources has a file of its own that appears whole, so that several may start at once.
 */
export async function currentTemplate(): Promise<string> {
  const template = join(folder, `${fingerprint(sources, readers)}.template.json`);
  if (existsSync(template)) return template;
  mkdirSync(folder, { recursive: true });
  removeOld(folder);
  const draft = join(folder, `draft-${process.pid}`);
  try {
    renameSync(await synthesize(draft), template);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return template;
}
