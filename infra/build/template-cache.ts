import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import { fingerprint } from '../fingerprint.ts';
import { publish, withDraft } from './kept-folders.ts';
import { synthesize, templateFile } from './synth.ts';

/** The sources of the template. */
const sources = ['cdk.json', 'package-lock.json', 'package.json', 'infra', 'functions', 'layers', 'shared', 'web'];
/** Folders among them that only read the template, or that hold parts of the page outside of it. */
const readers = new Set(['infra/build', 'infra/local', 'infra/setup', 'web/dist', 'web/public', 'web/src']);
const folder = join(projectRoot, 'cdk.out/local');

/**
 * Returns the path of the stack's template, synthesized again only if its sources have changed. The templates of nested
 * stacks are next to it. Each state of the sources has its own folder, which appears atomically, so that several
 * services may start at the same time.
 */
export async function currentTemplate(): Promise<string> {
  const current = join(folder, fingerprint(sources, readers));
  const template = join(current, templateFile);
  if (existsSync(template)) return template;
  mkdirSync(folder, { recursive: true });
  await withDraft(folder, async (draft) => {
    const assembly = dirname(await synthesize(join(draft, 'assembly')));
    const templates = join(draft, 'templates');
    mkdirSync(templates);
    for (const name of readdirSync(assembly).filter((each) => each.endsWith('.template.json')))
      renameSync(join(assembly, name), join(templates, name));
    publish(templates, current);
  });
  return template;
}
