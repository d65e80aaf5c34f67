import { BuildahBuilder } from './buildah.ts';
import type { Builder } from './builder.ts';
import { DockerBuilder } from './docker.ts';
import { succeeds } from './shell.ts';

/** Finds docker, podman or buildah. Installs buildah on Debian if there is none of them. */
export function findBuilder(): Builder {
  for (const program of ['docker', 'podman']) {
    if (succeeds([program, 'info'])) return new DockerBuilder(program);
  }
  return new BuildahBuilder();
}
