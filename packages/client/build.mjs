// Builds dist/ with the compiler of the checkout, which it installs first if it is missing.
// Plain JavaScript for Node 20 and nothing but its own modules: `npm pack` runs it.
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { installNpmPackages, root, succeeds } from '../../infra/setup/npm-packages.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const compiler = `${root}node_modules/.bin/tsc`;

/** Compiles a project, and ends this process if that fails. */
async function compile(project) {
  // The standard output of `npm pack` is the name of the tarball.
  const options = { cwd: folder, stdio: ['ignore', process.stderr, process.stderr] };
  if (!(await succeeds(compiler, ['-p', project], options))) process.exit(1);
}

if (!existsSync(compiler) && !(await installNpmPackages())) process.exit(1);
await rm(`${folder}dist`, { recursive: true, force: true });
await compile('tsconfig.json');
// For require(), which Node 20.16 cannot use to load an ES module.
await compile('tsconfig.cjs.json');
await writeFile(`${folder}dist/cjs/package.json`, '{ "type": "commonjs" }\n');
