import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Builder, lambdaUser, type RunningImage, tag } from './builder.ts';
import { run, succeeds } from './shell.ts';

/** Builds and starts images with docker, or with podman, which has the same commands. */
export class DockerBuilder implements Builder {
  readonly name: string;

  constructor(program: string) {
    this.name = program;
  }

  build(engine: string, context: string): void {
    run([this.name, 'build', '--quiet', '--build-arg', `ENGINE=${engine}`, '--tag', tag(engine), context]);
  }

  compressedBytes(engine: string): number {
    const folder = mkdtempSync(join(tmpdir(), 'lathe-image-'));
    try {
      run([this.name, 'save', '--output', join(folder, 'image.tar'), tag(engine)]);
      run(['tar', '-xf', 'image.tar'], { cwd: folder });
      const [manifest]: { Layers: string[] }[] = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
      const sizes = (manifest?.Layers ?? []).map((layer) => gzippedBytes(join(folder, layer)));
      return sizes.reduce((total, size) => total + size, 0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  start(engine: string, env: Record<string, string>, data?: string): RunningImage {
    const name = `${tag(engine)}-${randomUUID()}`;
    const variables = Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]);
    const limits = ['--network', 'host', '--ipc', 'none', '--read-only', '--tmpfs', '/tmp:exec,mode=1777'];
    const volumes = data === undefined ? [] : ['--volume', `${data}:/data`];
    // Files of the folder belong to this user, who could not remove those of another.
    const user = data !== undefined && process.getuid?.() ? `${process.getuid()}:${process.getgid?.()}` : lambdaUser;
    const chosen = ['--user', user, ...limits, ...volumes, ...variables];
    const args = ['run', '--rm', '--init', '--name', name, ...chosen, tag(engine)];
    // It may have exited already.
    const kill = (signal: string) => void succeeds([this.name, 'kill', '--signal', signal, name]);
    return {
      process: spawn(this.name, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] }),
      stop: () => kill('KILL'),
      terminate: () => kill('TERM'),
    };
  }
}

function gzippedBytes(path: string): number {
  return Number(run(['sh', '-c', 'gzip -c "$1" | wc -c', 'sh', path]));
}
