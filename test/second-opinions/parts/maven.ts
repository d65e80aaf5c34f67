import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from '../cache.ts';

export interface Artifact {
  group: string;
  name: string;
  version: string;
}

/** Copies a Maven artifact with its dependencies into the cache, once; returns the class path or why that fails. */
export function resolveArtifact({ group, name, version }: Artifact): { classPath: string } | { missing: string } {
  const folder = join(cache, `${name}-${version}`);
  const jars = join(folder, 'jars');
  const classPath = join(jars, '*');
  if (spawnSync('java', ['-version']).status !== 0) return { missing: 'there is no Java' };
  if (existsSync(jars)) return { classPath };
  if (spawnSync('mvn', ['--version']).status !== 0) return { missing: 'there is no Maven' };
  const partial = join(folder, 'partial');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project><modelVersion>4.0.0</modelVersion><groupId>any</groupId><artifactId>any</artifactId><version>1</version>
<dependencies><dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency></dependencies></project>`,
  );
  const args = ['-B', '-q', 'dependency:copy-dependencies', `-DoutputDirectory=${partial}`];
  if (spawnSync('mvn', args, { cwd: folder }).status !== 0)
    return { missing: `Maven could not fetch ${group}:${name}:${version}` };
  renameSync(partial, jars);
  return { classPath };
}
