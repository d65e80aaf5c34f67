// Sets up what is missing, then runs a module of the project with the project's own Node.
// Plain JavaScript for Node 20 and nothing but its own modules: it runs before anything is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { installNpmPackages, node, succeeds } from './npm-packages.mjs';
import { checkStartArguments } from './start-arguments.mjs';
import { installSystemPackages } from './system-packages.mjs';

const args = process.argv.slice(2);
const ours = ['--start', '--tests', '--optional'];
const start = args.findIndex((arg) => !ours.includes(arg));
const options = args.slice(0, start);
const command = args.slice(start);
const forStart = options.includes('--start');
if (forStart) checkStartArguments(command.slice(command.findIndex((arg) => !arg.startsWith('-')) + 1));

const env = {
  // The C library keeps freed memory in a pool for each of many threads, 40 MB more for the service than with two pools.
  MALLOC_ARENA_MAX: '2',
  // Halves the time of a start: types are stripped, and modules compiled, once.
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)),
  ...process.env,
};

/** Runs a module next to this one with the project's Node, and returns whether it succeeded. */
function runModule(name, moduleArguments, environment) {
  const path = fileURLToPath(new URL(name, import.meta.url));
  return succeeds(node, [path, ...moduleArguments], { stdio: ['ignore', 'inherit', 'inherit'], env: environment });
}

/** Compiles and builds while Debian packages are downloaded. What fails here is reported again by what needs it. */
async function prepare() {
  if (!(await npmPackages)) return;
  // Without a cache of its own: another cannot be chosen after that.
  const { NODE_COMPILE_CACHE: cache, ...uncached } = env;
  const compiled = runModule('compile-engines.ts', [`${cache}-engines`], uncached);
  if (forStart) await Promise.all([compiled, runModule('prepare.ts', [], env)]);
}

// Side by side: each takes a minute or two, and neither needs the other.
const npmPackages = installNpmPackages({ forStart });
const wanted = { forTests: options.includes('--tests'), optional: options.includes('--optional') };
const [areInstalled] = await Promise.all([npmPackages, installSystemPackages(wanted, npmPackages), prepare()]);
if (!areInstalled) process.exit(1);

const child = spawn(node, command, { stdio: 'inherit', env });
// A terminal sends Ctrl-C to both; the child ends in its own time and this process with it.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
const [code, signal] = await once(child, 'exit');
process.exitCode = signal ? 128 : code;
