import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { engineCatalogues, folderOf } from '../../functions/catalogue/catalogues.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { copyBundles } from '../build/bundles.ts';
import { currentTemplate } from '../build/template-cache.ts';
import { projectRoot } from '../bundling.ts';
import { builtService } from '../local/built.ts';
import { currentPage } from '../local/page.ts';
import { debianPackages, dockerfile } from './context.ts';
import { installationOf, type LockFile } from './lock-file.ts';
import { packagesOf } from './module-graph.ts';

/** Programs that an image of the whole service leaves out. */
const leftOut: Record<string, RegExp> = {
  container: /^$/,
  'container-small': /^(?:libreoffice-|calibre$|python3-uno$)/,
};

/** The images of the whole service. */
export const containers = Object.keys(leftOut);

/** The last stages of the engines' Dockerfile are those of an engine. */
const engineStages = '\n# The image of the whole service';
/** Modules that the service loads, other than bundles. */
const modules = [
  'infra/local/{main,engine-checks,close-inherited}.ts',
  'infra/setup/compile-engines.ts',
  'packages/runtime-client/src/main.ts',
  'functions/engines/*/{handler,run,check}.ts',
  'functions/engines/runtime/sandbox/child.ts',
];
const sources = ['functions', 'infra', 'packages/local-aws/src', 'packages/runtime-client/src', 'shared'];
/** Imported to bundle on demand. The image has its bundles. */
const onlyToBuild = ['esbuild'];

/** Writes the build context of an image of the whole service, with page and bundles, and returns its folder. */
export async function stageContainer(name: string): Promise<string> {
  const folder = join(projectRoot, 'cdk.out/images', name);
  rmSync(folder, { recursive: true, force: true });
  await buildService(join(folder, 'built'));
  for (const path of sources) cpSync(join(projectRoot, path), join(folder, path), { recursive: true });
  const lock: LockFile = JSON.parse(read('package-lock.json'));
  const entries = globSync(modules, { cwd: projectRoot });
  const packages = packagesOf(projectRoot, entries).filter((each) => !onlyToBuild.includes(each));
  const { packageJson, lockFile } = installationOf('lathe-container', lock, packages);
  const [stages = ''] = read(dockerfile).split(engineStages);
  const texts = {
    Dockerfile: `${stages}\n${read('container/Dockerfile')}`,
    'package.json': JSON.stringify(packageJson),
    'package-lock.json': JSON.stringify(lockFile),
    'packages.txt': `${programsOf(name).join('\n')}\n`,
  };
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(folder, path), text);
  return folder;
}

async function buildService(folder: string): Promise<void> {
  const { template, page, bundles } = builtService(folder);
  const current = await currentTemplate();
  mkdirSync(folder, { recursive: true });
  // With those of nested stacks, which are next to it.
  cpSync(dirname(current), dirname(template), { recursive: true });
  cpSync((await currentPage()).folder, page, { recursive: true });
  const origin = 'http://localhost';
  const origins = { api: origin, gate: origin };
  const { functions } = readTemplate({ template: current, root: projectRoot, origins, parameters: {} });
  await copyBundles(
    functions.filter(({ packaging }) => packaging === 'zip').map(({ entry }) => entry),
    bundles,
  );
}

function programsOf(name: string): string[] {
  const engines = engineCatalogues.filter(({ resources }) => resources.packaging === 'image');
  const names = engines.flatMap((catalogue) => debianPackages(join(projectRoot, folderOf(catalogue))));
  return [...new Set([...names, 'tini'])].filter((each) => !leftOut[name]?.test(each)).sort();
}

function read(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}
