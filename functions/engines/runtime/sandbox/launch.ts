import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync, symlinkSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defined } from '../../../../shared/defined.ts';
import { type Barriers, barriersFrom, noBarriers } from '../barriers.ts';
import { pickVariables, programVariables } from '../program.ts';
import type { Folder } from './folder.ts';
import type { WorkRoot } from './work-root.ts';

const launcher = fileURLToPath(new URL('launch.pl', import.meta.url));
const perl = '/usr/bin/perl';
/** The parts of the code that engines import. The rest is not readable: the default data folder is next to the code. */
const codeFolders = ['functions', 'packages/runtime-client', 'shared', 'node_modules', 'layers', 'package.json'];

/** Paths of programs. */
const pathVariables = ['LATHE_FFMPEG', 'LATHE_FFPROBE', 'LATHE_SOX', 'LATHE_CHROMIUM'];

export interface LaunchOptions {
  root: WorkRoot;
  /** Files and folders that the process may read in addition to those of the system; see `readablePaths`. */
  readable: string[];
  /** User that the process becomes if it is started as root. */
  user: number | undefined;
  network: boolean;
}

export interface Launched {
  process: ChildProcessWithoutNullStreams;
  /** Settles before any code of the engine runs. */
  barriers: Promise<Barriers>;
}

/** Starts a script with Node behind the barriers of this system, as the leader of a process group. */
export function launch(script: string, args: string[], options: LaunchOptions): Launched {
  return start([process.execPath, ...process.execArgv, script, ...args], options);
}

/** Finds the barriers that a process would have, without starting an engine. */
export async function probeBarriers(options: LaunchOptions): Promise<Barriers> {
  const { process: probe, barriers } = start(['/bin/sh', '-c', ':'], options);
  const timer = setTimeout(() => probe.kill('SIGKILL'), 10_000);
  try {
    return await barriers;
  } finally {
    clearTimeout(timer);
  }
}

function start(command: string[], options: LaunchOptions): Launched {
  const { tmp, warm } = options.root.startProcess();
  const reason = whyNone();
  const launcherCommand = [perl, ...launcherArguments(options, tmp, warm), ...command];
  const [program = perl, ...rest] = reason === undefined ? launcherCommand : command;
  const started = spawn(program, rest, {
    detached: true,
    cwd: tmp.path,
    env: cleanEnvironment(tmp.path, warm.path),
    stdio: 'pipe',
  });
  return { process: started, barriers: reason === undefined ? reported(started) : Promise.resolve(noBarriers(reason)) };
}

/**
 * Reads the first line that a process writes: the launcher's report about missing barriers, before it becomes the engine.
 * Later output stays in the stream.
 */
function reported({ stdout }: ChildProcessWithoutNullStreams): Promise<Barriers> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const onEnd = () => reject(new Error('The launcher ended without a report.'));
    const onData = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf('\n');
      if (end === -1) return;
      stdout.off('data', onData).off('end', onEnd).pause();
      stdout.unshift(read.subarray(end + 1));
      resolve(barriersFrom(JSON.parse(read.subarray(0, end).toString())));
    };
    stdout.on('data', onData).once('end', onEnd);
  });
}

/** Users assigned to the sandboxes of this process, running or not. */
const takenUsers = new Set<number>();

/** Returns a user that is not in use, for a process started by root. Returns undefined otherwise. */
export function freeUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  // The range that Linux distributions reserve for temporary users of services. Containers map it too.
  const [first, last] = [61_184, 65_519];
  const used = new Set(existsSync('/proc/self') ? processOwners() : []);
  const offset = process.pid % (last - first);
  for (let index = 0; index < last - first; index += 1) {
    const user = first + ((offset + index) % (last - first));
    if (used.has(user) || takenUsers.has(user)) continue;
    takenUsers.add(user);
    shareCompileCache(user);
    return user;
  }
  return undefined;
}

/** Lets a user read the precompiled modules of engines: Node looks for them in a folder per user. */
function shareCompileCache(user: number): void {
  const compiled = basename(getCompileCacheDir() ?? '');
  const shared = compileCache();
  if (shared === undefined || !existsSync(join(shared, compiled))) return;
  try {
    symlinkSync(compiled, join(shared, compiled.replace(/\d+$/, String(user))));
  } catch {
    // Linked for an earlier engine, or not writable. In the latter case the engine compiles its modules itself.
  }
}

/** Returns the folder of precompiled modules, which engines may only read: their own, or the common one. */
function compileCache(): string | undefined {
  const { NODE_COMPILE_CACHE } = process.env;
  const ofEngines = `${NODE_COMPILE_CACHE}-engines`;
  return existsSync(ofEngines) ? ofEngines : NODE_COMPILE_CACHE;
}

function processOwners(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid ?? []);
}

/** Returns why no barrier is possible here, or undefined if the launcher can run. */
function whyNone(): string | undefined {
  if (process.platform !== 'linux') return `there is no isolation on ${process.platform}`;
  try {
    accessSync(perl, constants.X_OK);
    return undefined;
  } catch {
    return `${perl} is not installed`;
  }
}

function launcherArguments({ root, readable, user, network }: LaunchOptions, tmp: Folder, warm: Folder): string[] {
  return [
    ...[launcher, '--view', root.view, '--tmp', placeOf(tmp)],
    ...[warm, root.tasks].flatMap((folder) => ['--write', placeOf(folder)]),
    ...readable.flatMap((path) => ['--read', path]),
    ...(user === undefined ? [] : ['--user', String(user)]),
    ...(network ? ['--network'] : []),
    '--',
  ];
}

/** Returns a folder with the entries that must exist in it. */
function placeOf(folder: Folder): string {
  const { dev, ino } = folder.identity;
  return `${folder.path}:${dev}:${ino}`;
}

/** Returns the paths that an engine's process must read: the code, its module's folder, Node, and programs of the environment. */
export function readablePaths(module: URL): string[] {
  return [...new Set([...ownCode(), ...programFolders(), ...withTargets([dirname(fileURLToPath(module))])])];
}

function ownCode(): string[] {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const code = codeFolders.map((name) => join(root, name)).filter((path) => existsSync(path));
  // Node may come with libraries, in a folder next to that of its executable.
  return withTargets([...code, dirname(dirname(realpathSync(process.execPath)))]);
}

/** Returns the folders of programs and libraries in the environment. */
function programFolders(): string[] {
  const variable = (name: string) => process.env[name] ?? '';
  const folders = [
    ...['PATH', 'LD_LIBRARY_PATH'].flatMap((name) => variable(name).split(delimiter)),
    ...[...pathVariables, 'FONTCONFIG_FILE'].map(variable).map((file) => (file === '' ? '' : dirname(file))),
    ...['FONTCONFIG_PATH', 'LATHE_LAYERS'].map(variable),
  ];
  // A folder with other contents is not made readable for the programs in it.
  const whole = ['/', '/tmp', process.env.HOME];
  return withTargets(folders.filter((path) => isAbsolute(path) && existsSync(path) && !whole.includes(path)));
}

/** Adds the targets of links: the rules of the kernel apply to files, not to paths. */
function withTargets(paths: string[]): string[] {
  return [...new Set(paths.flatMap((path) => [path.replace(/\/$/, ''), realpathSync(path)]))];
}

/** Environment of engines: what programs need to run, without the function's credentials and settings. */
function cleanEnvironment(tmp: string, warm: string): Record<string, string> {
  const cache = compileCache();
  return {
    // Includes missing components, private hosts that a page may load, and whether messages may name local settings.
    ...pickVariables([...programVariables, ...pathVariables]),
    ...pickVariables(['LATHE_LAYERS', 'LATHE_MISSING', 'LATHE_ALLOW_HOSTS', 'LATHE_LOCAL']),
    // Lambda allocates cores by memory.
    ...pickVariables(['AWS_LAMBDA_FUNCTION_MEMORY_SIZE']),
    ...defined({ NODE_COMPILE_CACHE: cache }),
    HOME: warm,
    TMPDIR: tmp,
    LATHE_WARM: warm,
    // With glibc's default of many arenas, the memory of threads is never released.
    MALLOC_ARENA_MAX: '2',
  };
}
