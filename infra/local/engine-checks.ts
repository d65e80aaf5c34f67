import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { engineCatalogues, folderOf } from '../../functions/catalogue/catalogues.ts';
import type { EngineCheck } from '../../functions/engines/runtime/engine.ts';
import { findProgram } from '../../functions/engines/runtime/find-program.ts';
import type { EngineCatalogue, Missing } from '../../shared/catalogue/catalogue.ts';
import type { MissingComponents, PackageManager } from '../../shared/catalogue/missing.ts';

const isMain = process.argv[1] === fileURLToPath(import.meta.url);

/**
 * Returns the components that engines lack on this machine, with reasons. Checked in another process, which a native
 * library may crash.
 */
export async function findMissing(): Promise<MissingComponents> {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url)]);
  return JSON.parse(stdout);
}

async function checkAll(): Promise<MissingComponents> {
  const images = engineCatalogues.filter(({ resources }) => resources.packaging === 'image');
  const [manager, ...found] = await Promise.all([findManager(), ...images.map(checkEngine)]);
  return { ...(manager ? { manager } : {}), engines: Object.assign({}, ...found) };
}

async function checkEngine(catalogue: EngineCatalogue): Promise<Missing> {
  const { check }: { check: EngineCheck } = await import(
    new URL(`../../${folderOf(catalogue)}/check.ts`, import.meta.url).href
  );
  const missing = await check();
  return Object.keys(missing).length > 0 ? { [catalogue.engine]: missing } : {};
}

async function findManager(): Promise<PackageManager | undefined> {
  if (process.platform === 'linux' && (await findProgram('apt-get'))) return 'apt';
  return (await findProgram('brew')) ? 'brew' : undefined;
}

if (isMain) process.stdout.write(JSON.stringify(await checkAll()));
