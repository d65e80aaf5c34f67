import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/bundling.ts';
import { type RunningService, startService } from '../../support/running-stack.ts';

/** What a check needs cannot be had on this machine. */
export class Missing extends Error {}

interface InstallOptions {
  /** Versions of dependencies of the packages. */
  overrides?: Record<string, string>;
  /** Flags of `npm install`. */
  flags?: string[];
}

/** A check of one integration. Returns its figures, throws if it fails, and throws `Missing` if it cannot run here. */
export type Check = (tools: Tools) => Promise<string>;

/** What the checks share: one service, and programs of the ecosystems, installed once. */
export class Tools implements AsyncDisposable {
  #service: Promise<RunningService> | undefined;

  /** Returns the service, started by the first call. It may call receivers of webhooks on this machine. */
  service(): Promise<RunningService> {
    this.#service ??= startService({ LATHE_ALLOW_HOSTS: 'localhost' });
    return this.#service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#service)?.stop();
  }

  /** Returns a folder with packages of npm, such as `publint@0.3.12`, and nothing of this project. */
  npmPackages(name: string, packages: string[], { overrides = {}, flags = [] }: InstallOptions = {}): string {
    const folder = join(projectRoot, 'node_modules/.cache/integrations', name);
    const done = join(folder, `.installed-${packages.join('+').replaceAll(/[^\w.@+-]/g, '_')}`);
    if (existsSync(done)) return folder;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }));
    process.stdout.write(`Installing ${packages.join(' ')} …\n`);
    const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', ...flags, ...packages];
    const installed = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
    if (installed.status !== 0) throw new Missing(`npm could not install ${packages.join(', ')}: ${installed.stderr}`);
    writeFileSync(done, '');
    return folder;
  }

  /** Runs a program and returns its output. Throws with the output if it fails. */
  run(program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): string {
    const { status, stdout, stderr, error } = spawnSync(program, args, {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      ...options,
    });
    if (error) throw new Missing(`${program} cannot be started: ${error.message}`);
    if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
    return stdout;
  }
}
