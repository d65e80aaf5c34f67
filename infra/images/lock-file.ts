/** The fields of a package-lock.json entry that determine what is installed with it. */
interface LockedPackage {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

export interface LockFile {
  lockfileVersion: number;
  packages: Record<string, LockedPackage>;
}

/** Input of `npm ci`. */
export interface Installation {
  packageJson: object;
  lockFile: object;
}

/** Returns the input that installs some of a project's packages in their locked versions, with their dependencies. */
export function installationOf(name: string, lock: LockFile, packages: string[]): Installation {
  // The local service is among the workspaces.
  const declared = {
    ...lock.packages['packages/local-aws']?.dependencies,
    ...lock.packages['']?.dependencies,
  };
  const dependencies = Object.fromEntries(
    packages.map((wanted) => {
      const range = declared[wanted];
      if (range === undefined) throw new Error(`${wanted} is imported by ${name} but is not in dependencies.`);
      return [wanted, range];
    }),
  );
  const description = { name, private: true, type: 'module', dependencies };
  const kept = closureOf(lock, packages);
  return {
    packageJson: description,
    lockFile: {
      name,
      lockfileVersion: lock.lockfileVersion,
      requires: true,
      packages: {
        '': { name, dependencies },
        ...Object.fromEntries(Object.entries(lock.packages).filter(([path]) => kept.has(path))),
      },
    },
  };
}

/** Returns the paths in `node_modules` of packages and all their dependencies, for every platform. */
export function closureOf(lock: LockFile, packages: string[]): Set<string> {
  const kept = new Set<string>();
  const waiting = packages.map((name) => ({ name, from: '' }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const path = placeOf(lock, next.name, next.from);
    // Optional peers may be absent.
    if (path === undefined || kept.has(path)) continue;
    kept.add(path);
    const entry = lock.packages[path] ?? {};
    const names = Object.keys({
      ...entry.dependencies,
      ...entry.optionalDependencies,
      ...entry.peerDependencies,
    });
    waiting.push(...names.map((name) => ({ name, from: path })));
  }
  return kept;
}

/** Finds a package as Node does: next to the package that imports it, then in each `node_modules` above. */
function placeOf(lock: LockFile, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const path = `${folder}${folder ? '/' : ''}node_modules/${name}`;
    if (lock.packages[path]) return path;
    if (folder === '') return undefined;
  }
}
