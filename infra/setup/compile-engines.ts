// Compiles the modules of all engines into a cache of their own. Their processes may read it as any user, but must not
// write to it: it holds code. Runs in parallel with the command.
import { createHash } from 'node:crypto';
import { chmodSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [folder = ''] = process.argv.slice(2);

/** Returns a value that changes with the modules of engines, without reading them. */
function stateOfSources(): string {
  const files = ['functions', 'packages/runtime-client', 'shared'].flatMap((name) =>
    readdirSync(`${root}${name}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hash = createHash('sha256').update(process.version);
  for (const path of [...files, `${root}package-lock.json`]) {
    const { mtimeMs, size } = statSync(path);
    hash.update(JSON.stringify([path, mtimeMs, size]));
  }
  return hash.digest('hex');
}

function readState(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Nothing has been compiled yet.
    return undefined;
  }
}

enableCompileCache(folder);
const compiled = getCompileCacheDir();
const statePath = join(compiled ?? '', 'state-of-sources');
const state = stateOfSources();
// Without a writable folder there is no cache. Loading all engines takes a second of a core, which most commands need.
if (compiled === undefined || readState(statePath) === state) process.exit();
// Missing packages are reported elsewhere; the other engines are still compiled.
await Promise.allSettled(
  globSync('functions/engines/*/run.ts', { cwd: root }).map((module) => import(`${root}${module}`)),
);
flushCompileCache();
// Other names are files that another process is writing.
for (const name of readdirSync(compiled).filter((each) => /^[0-9a-f]+$/.test(each)))
  chmodSync(join(compiled, name), 0o644);
writeFileSync(statePath, state);
process.exit();
