import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import { fingerprint } from '../fingerprint.ts';
import { publish, removeOld } from './kept-folders.ts';
import { synthesize, templateFile } from './synth.ts';

/** What the template is made of. */
const sources = ['cdk.json', 'package-lock.json', 'package.json', 'infra', 'functions', 'layers', 'shared', 'web'];
/** Folders among them that only read the template, or hold what of the page is not in it. */
const readers = new Set(['infra/build', 'infra/local', 'infra/setup', 'web/dist', 'web/public', 'web/src']);
const folder = join(projectRoot, 'cdk.out/local');

/**
 * Returns the path of the stack's template, synthesized anew only when something it is made of has changed. The templates
 * of its nested stacks lie beside it. Each state of the sources has a folder of its own that appears whole, so that
 * several may start at once.
 */
export async function currentTemplate(): Promise<string> {
  const current = join(folder, fingerprint(sources, readers));
  const template = join(current, templateFile);
  if (existsSync(template)) return template;
  mkdirSync(folder, { recursive: true });
  removeOld(folder);
  const draft = mkdtempSync(join(folder, 'draft-'));
  try {
    const assembly = dirname(await synthesize(join(draft, 'assembly')));
    const templates = join(draft, 'templates');
    mkdirSync(templates);
    for (const name of readdirSync(assembly).filter((each) => each.endsWith('.template.json')))
      renameSync(join(assembly, name), join(templates, name));
    publish(templates, current);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return template;
}
