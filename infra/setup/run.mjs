// Sets up what is missing, then runs a module of the project with the project's own Node.
// Plain JavaScript for Node 20 and nothing but its own modules: it runs before anything is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { installNpmPackages, node } from './npm-packages.mjs';
import { installSystemPackages } from './system-packages.mjs';

const args = process.argv.slice(2);
const ours = ['--tests', '--optional'];
const start = args.findIndex((arg) => !ours.includes(arg));
const options = args.slice(0, start);

// Side by side: each takes a minute or two, and neither needs the other.
const npmPackages = installNpmPackages();
const wanted = { forTests: options.includes('--tests'), optional: options.includes('--optional') };
const [areInstalled] = await Promise.all([npmPackages, installSystemPackages(wanted, npmPackages)]);
if (!areInstalled) process.exit(1);

const env = {
  // The C library keeps freed memory in a pool for each of many threads, 40 MB more for the service than with two pools.
  MALLOC_ARENA_MAX: '2',
  // Halves the time of a start: types are stripped, and modules compiled, once.
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)),
  ...process.env,
};
// Without a cache of its own: another cannot be chosen after that.
const { NODE_COMPILE_CACHE: cache, ...uncached } = env;
const compileEngines = fileURLToPath(new URL('compile-engines.ts', import.meta.url));
spawn(node, [compileEngines, `${cache}-engines`], { stdio: ['ignore', 'ignore', 'inherit'], env: uncached }).unref();
const child = spawn(node, args.slice(start), { stdio: 'inherit', env });
// A terminal sends Ctrl-C to both; the child ends in its own time and this process with it.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
const [code, signal] = await once(child, 'exit');
process.exitCode = signal ? 128 : code;
