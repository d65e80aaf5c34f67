import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/bundling.ts';
import clientPackage from '../../../packages/client/package.json' with { type: 'json' };
import { until } from '../../support/until.ts';
import { Missing } from './tools.ts';

/**
 * Where examples are installed, in the layout of the checkout. It is outside of the checkout, so that the packages of the
 * project do not serve an example that does not declare them, and because Node runs no TypeScript below node_modules.
 */
const cache = join(tmpdir(), `lathe-examples-${createHash('sha256').update(projectRoot).digest('hex').slice(0, 8)}`);

/** The result of a program that ended. */
export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Settings of a program. */
export interface ProgramOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

/** A program that is running. */
export interface Started extends AsyncDisposable {
  process: ChildProcess;
  /** What it has written to standard output and standard error. */
  output(): string;
}

/** An example that is installed as its README says. */
export class Example implements AsyncDisposable {
  readonly folder: string;
  /** An empty folder for files of the check, removed at its end. */
  readonly files: string = mkdtempSync(join(tmpdir(), 'example-'));
  readonly #closing: AsyncDisposableStack = new AsyncDisposableStack();

  constructor(name: string) {
    this.folder = join(cache, name);
    const source = join(projectRoot, 'examples', name);
    if (!existsSync(source)) throw new Error(`There is no example ${name}.`);
    cpSync(source, this.folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
    this.#closing.defer(() => rmSync(this.files, { recursive: true, force: true }));
  }

  /** Returns a path in the folder of the check. */
  file(...names: string[]): string {
    return join(this.files, ...names);
  }

  /** Installs the packages in its package.json, and the client as a tarball. */
  installNpm(): void {
    const wanted = readFileSync(join(this.folder, 'package.json'), 'utf8');
    if (wanted.includes('@lathe-convert/client')) packClient();
    installOnce(this.folder, wanted, 'npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      '--ignore-scripts',
    ]);
  }

  /** Makes a virtual environment with packages of PyPI and folders of this project, and returns its bin folder. */
  installPython(packages: string[]): string {
    const environment = join(this.folder, '.venv');
    if (!existsSync(environment)) requireSuccess('python3', ['-m', 'venv', environment], {});
    const bin = join(environment, 'bin');
    installOnce(this.folder, packages.join('\n'), join(bin, 'pip'), ['install', '--quiet', ...packages]);
    return bin;
  }

  /** Runs a program in the folder of the example until it ends. */
  async run(program: string, args: string[], options: ProgramOptions = {}): Promise<Ended> {
    const child = spawn(program, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [status] = await once(child, 'close');
    return { status, stdout, stderr };
  }

  /** Runs a program that has to succeed, and returns its standard output. */
  async succeed(program: string, args: string[], options: ProgramOptions = {}): Promise<string> {
    const { status, stdout, stderr } = await this.run(program, args, options);
    if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
    return stdout;
  }

  /** Starts a program in the folder of the example, and returns once it has written a text. It is stopped at the end. */
  async start(program: string, args: string[], text: string, options: ProgramOptions = {}): Promise<Started> {
    const child = spawn(program, args, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, because scripts start programs.
      detached: true,
      ...options,
    });
    let output = '';
    const add = (chunk: string) => {
      output += chunk;
    };
    child.stdout.setEncoding('utf8').on('data', add);
    child.stderr.setEncoding('utf8').on('data', add);
    const closed = once(child, 'close');
    const started = {
      process: child,
      output: () => output,
      [Symbol.asyncDispose]: async () => {
        if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
          process.kill(-child.pid, 'SIGTERM');
        await closed;
      },
    };
    this.#closing.use(started);
    await until(`${program} writes ${text}`, () => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}:\n${output}`);
      return output.includes(text);
    });
    return started;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closing.disposeAsync();
  }
}

const tarball = join(cache, `lathe-convert-client-${clientPackage.version}.tgz`);
let isPacked = false;

function packClient(): void {
  if (isPacked) return;
  requireSuccess('npm', ['pack', '-w', 'packages/client', '--pack-destination', cache], { cwd: projectRoot });
  isPacked = true;
}

/** Installs packages unless the same were installed before. */
function installOnce(folder: string, wanted: string, program: string, args: string[]): void {
  // The tarball keeps its name when the client changes.
  const client = wanted.includes('@lathe-convert/client') ? readFileSync(tarball) : '';
  const digest = createHash('sha256').update(wanted).update(client).digest('hex').slice(0, 16);
  const done = join(folder, `.installed-${digest}`);
  if (existsSync(done)) return;
  process.stdout.write(`Installing the packages of ${folder.slice(cache.length + 1)} …\n`);
  // An installation that was interrupted would be taken as complete, and so would a tarball with the same name as before.
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  const { status, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Missing(`packages could not be installed: ${stderr}`);
  writeFileSync(done, '');
}

function requireSuccess(program: string, args: string[], options: { cwd?: string }): void {
  mkdirSync(cache, { recursive: true });
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (error) throw new Missing(`${program} cannot be started: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stderr}`);
}
