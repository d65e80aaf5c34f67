import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import type { RunningImage } from './builder.ts';
import { run } from './shell.ts';
import { withoutPerl } from './without-perl.ts';
import { installContext } from './zip-context.ts';

/** Lambda's limit for an unzipped function with all layers. */
export const maxUnzippedBytes = 250 * 1024 ** 2;

/** A zip function with its layers, unzipped as by Lambda. */
export interface UnzippedFunction {
  root: string;
  /** Content of /opt. */
  layers: string;
  bytes: number;
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
  return { process: started, stop: () => started.kill('SIGKILL') };
}

function bytesOf(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((total, name) => total + bytesOf(join(path, name)), 0);
}
