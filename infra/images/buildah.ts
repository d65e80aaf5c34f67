import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../bundling.ts';
import { type Builder, lambdaUser, type RunningImage, tag } from './builder.ts';
import { makeBase } from './debian-base.ts';
import { run, succeeds } from './shell.ts';

const publicBase = 'docker.io/library/node:24-bookworm-slim';
const ownBase = 'localhost/lathe-base';
/** Not Debian's own path, which a package may write to. */
const mountedCertificates = '/run/host-certificates.crt';
const runInRoot = fileURLToPath(new URL('run-in-root.sh', import.meta.url));

interface ImageConfig {
  Env: string[];
  Entrypoint: string[];
  Cmd?: string[];
  WorkingDir: string;
}

/**
 * Builds images with buildah, which needs no daemon and, with a local base, no registry; and starts them in new
 * namespaces. Both require root.
 */
export class BuildahBuilder implements Builder {
  readonly name = 'buildah';
  readonly #command: string[];
  readonly #base: string;
  readonly #settings = hostSettings();
  /** Created with the image: copying files takes longer than a function may take to start. */
  readonly #roots = new Map<string, string>();

  constructor() {
    if (process.getuid?.() !== 0)
      throw new Error('Expected docker or podman, or root for buildah, but found none of them.');
    if (!succeeds(['buildah', '--version']))
      run(['apt-get', '-qq', 'install', '-y', '--no-install-recommends', 'buildah']);
    this.#command = commandWithStorage();
    this.#base = this.#findBase();
  }

  build(engine: string, context: string): void {
    const args = ['--build-arg', `BASE=${this.#base}`, '--build-arg', `ENGINE=${engine}`, '--tag', tag(engine)];
    const settings = this.#settings.flatMap((volume) => ['--volume', volume]);
    // The other format has no health checks.
    const options = ['--format', 'docker', '--isolation', 'chroot', '--pull-never', '--layers'];
    run([...this.#command, 'bud', ...options, ...settings, ...args, context]);
    this.#roots.set(engine, this.#makeRoot(engine));
  }

  compressedBytes(engine: string): number {
    const folder = mkdtempSync(join(tmpdir(), 'lathe-image-'));
    try {
      run([...this.#command, 'push', '--quiet', tag(engine), `oci:${folder}`]);
      const blobs = join(folder, 'blobs/sha256');
      return readdirSync(blobs).reduce((total, name) => total + statSync(join(blobs, name)).size, 0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  start(engine: string, env: Record<string, string>, data = ''): RunningImage {
    const root = this.#roots.get(engine);
    if (root === undefined) throw new Error(`The image of ${engine} was not built.`);
    const { Env, Entrypoint, Cmd, WorkingDir } = this.#configOf(engine);
    const variables = [...Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const inRoot = ['sh', runInRoot, root, data, lambdaUser, WorkingDir];
    // As the first process of its namespace, the entry point takes its children with it.
    const namespaces = ['--mount', '--ipc', '--pid', '--fork', '--kill-child'];
    const started = spawn(
      'unshare',
      [...namespaces, ...inRoot, 'env', '-i', ...variables, ...Entrypoint, ...(Cmd ?? [])],
      {
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    return {
      process: started,
      stop: () => started.kill('SIGKILL'),
      terminate: () => process.kill(childOf(childOf(started.pid)), 'SIGTERM'),
    };
  }

  #findBase(): string {
    if (succeeds([...this.#command, 'inspect', '--type', 'image', publicBase])) return publicBase;
    if (succeeds([...this.#command, 'pull', publicBase], 300_000)) return publicBase;
    if (!succeeds([...this.#command, 'inspect', '--type', 'image', ownBase])) {
      console.log('No registry can be reached: building a base image from Debian packages …');
      makeBase(this.#command, ownBase);
    }
    return ownBase;
  }

  #configOf(engine: string): ImageConfig {
    const description = run([...this.#command, 'inspect', '--type', 'image', tag(engine)]);
    return JSON.parse(description).OCIv1.config;
  }

  /** Creates a folder of an image's files, in a container that is removed with this process. */
  #makeRoot(engine: string): string {
    const container = run([...this.#command, 'from', '--pull-never', tag(engine)]);
    process.once('exit', () => run([...this.#command, 'rm', container]));
    return run([...this.#command, 'mount', container]);
  }
}

/** Returns the only child of a process: unshare and the shell in the namespace pass no signal on. */
function childOf(pid: number | undefined): number {
  const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
  if (child > 0) return child;
  throw new Error(`Expected the process ${pid} to have one child.`);
}

/** Keeps images and containers in the project: as overlay layers if the kernel supports them, otherwise as copies. */
function commandWithStorage(): string[] {
  const store = join(projectRoot, 'cdk.out/image-store');
  const command = (driver: string) => [
    'buildah',
    '--storage-driver',
    driver,
    '--root',
    join(store, driver),
    '--runroot',
    join(store, 'run'),
  ];
  return succeeds([...command('overlay'), 'info']) ? command('overlay') : command('vfs');
}

/**
 * Lists this machine's package source settings, which are mounted during builds: what can be installed here can be
 * installed in images.
 */
function hostSettings(): string[] {
  const setting = (name: string) =>
    run(['npm', 'config', 'get', name], { stdio: ['ignore', 'pipe', 'ignore'] }).replace(/^(?:null|undefined)$/, '');
  const certificates = setting('cafile') || process.env.NODE_EXTRA_CA_CERTS || '';
  const lines = [setting('globalconfig'), setting('userconfig')]
    .filter((path) => existsSync(path))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => !line.startsWith('cafile'));
  const folder = mkdtempSync(join(tmpdir(), 'lathe-settings-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const npmrc = join(folder, 'npmrc');
  writeFileSync(npmrc, [...lines, ...(certificates ? [`cafile=${mountedCertificates}`] : []), ''].join('\n'));
  const mounts: [string, string][] = [
    ['/etc/apt', '/etc/apt'],
    [certificates, mountedCertificates],
    [npmrc, '/root/.npmrc'],
  ];
  return mounts.filter(([path]) => existsSync(path)).map(([path, target]) => `${path}:${target}:ro`);
}
