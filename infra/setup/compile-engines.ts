// Compiles the modules of all engines into a cache of their own, which their processes may read, whatever user they run as,
// and must not write to: it holds code. Runs beside the command that was called.
import { chmodSync, globSync, readdirSync } from 'node:fs';
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [folder] = process.argv.slice(2);
enableCompileCache(folder);
const functions = fileURLToPath(new URL('../../functions/', import.meta.url));
// Where packages of an engine are missing, that is found elsewhere, and the others are compiled all the same.
await Promise.allSettled(
  globSync('engines/*/run.ts', { cwd: functions }).map((module) => import(`${functions}${module}`)),
);
flushCompileCache();
const compiled = getCompileCacheDir() ?? '';
// Other names are of files that another process is writing.
const names = (compiled ? readdirSync(compiled) : []).filter((name) => /^[0-9a-f]+$/.test(name));
for (const name of names) chmodSync(join(compiled, name), 0o644);
process.exit();
