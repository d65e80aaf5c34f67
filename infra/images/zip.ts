import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import type { RunningImage } from './builder.ts';
import { run } from './shell.ts';
import { withoutPerl } from './without-perl.ts';

/** Lambda's limit for an unzipped function with all layers. */
export const maxUnzippedBytes = 250 * 1024 ** 2;

/** Files that only an image needs, and the magick build that no engine loads. */
const leftOut = ['Dockerfile', 'packages.txt', 'package-lock.json', 'node_modules/@imagemagick/magick-wasm/dist/x64'];

/** A zip function with its layers, unzipped as by Lambda. */
interface UnzippedFunction {
  root: string;
  /** Content of /opt. */
  layers: string;
  bytes: number;
}

/**
 * Writes the content of a zip function from the build context of an engine: its modules, and its packages for Lambda.
 */
export function installContext(context: string, folder: string): void {
  cpSync(context, folder, { recursive: true });
  const platform = ['--os=linux', '--cpu=x64', '--libc=glibc'];
  run(['npm', 'ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...platform], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const name of leftOut) rmSync(join(folder, name), { recursive: true, force: true });
  const engine = basename(context).replace(/-[^-]+$/, '');
  // The managed runtime requires JavaScript handlers, which may import TypeScript.
  writeFileSync(join(folder, 'index.mjs'), `export { handler } from './functions/engines/${engine}/handler.ts';\n`);
}

/** Builds a zip function and its layers from the build context of an engine. */
export function unzip(engine: string, context: string, layers: string[]): UnzippedFunction {
  const folder = join(projectRoot, 'cdk.out/zips', engine);
  rmSync(folder, { recursive: true, force: true });
  const [root, opt] = [join(folder, 'task'), join(folder, 'opt')];
  mkdirSync(root, { recursive: true });
  installContext(context, root);
  for (const layer of layers) run([process.execPath, join(projectRoot, 'layers', layer, 'build.ts'), opt]);
  return { root, layers: opt, bytes: bytesOf(root) + bytesOf(opt) };
}

/** Starts a zip function as the managed runtime does, without Perl, with the project's runtime client. */
export function startZip(
  { root, layers }: Pick<UnzippedFunction, 'root' | 'layers'>,
  env: Record<string, string>,
): RunningImage {
  const client = join(projectRoot, 'packages/runtime-client/src/main.ts');
  const [program = '', ...args] = withoutPerl([process.execPath, client]);
  const started = spawn(program, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, LAMBDA_TASK_ROOT: root, _HANDLER: 'index.handler', LATHE_LAYERS: layers, ...env },
  });
  return { process: started, stop: () => started.kill('SIGKILL'), terminate: () => started.kill('SIGTERM') };
}

function bytesOf(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((total, name) => total + bytesOf(join(path, name)), 0);
}
