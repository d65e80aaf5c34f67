import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import { synthesize } from './synth.ts';

/** What the template is made of. Functions run from source, so a change inside one needs no new template; a new route or engine does. */
const sources = ['cdk.json', 'package-lock.json', 'package.json', 'infra', 'functions', 'shared'];

/** Returns the path of the stack's template, synthesized anew only when something it is made of has changed. */
export async function currentTemplate(): Promise<string> {
  const folder = join(projectRoot, 'cdk.out/local');
  const stamp = join(folder, 'sources.sha256');
  const template = join(folder, 'Lathe.template.json');
  const wanted = fingerprint();
  if (existsSync(template) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return template;
  rmSync(folder, { recursive: true, force: true });
  await synthesize(folder);
  writeFileSync(stamp, wanted);
  return template;
}

function fingerprint(): string {
  const hash = createHash('sha256');
  const add = (path: string) => {
    const full = join(projectRoot, path);
    if (statSync(full).isDirectory()) for (const entry of readdirSync(full).sort()) add(join(path, entry));
    else hash.update(path).update(readFileSync(full));
  };
  for (const source of sources) add(source);
  return hash.digest('hex');
}
