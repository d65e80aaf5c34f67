import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { engineCatalogues, folderOf } from '../../functions/catalogue/catalogues.ts';
import { currentBundleFolders } from '../../infra/build/bundles.ts';
import { synthesize } from '../../infra/build/synth.ts';
import { projectRoot } from '../../infra/bundling.ts';
import { stageContext } from '../../infra/images/context.ts';
import { run } from '../../infra/images/shell.ts';
import { pageBuild } from '../../infra/page-build.ts';
import { readTemplate } from '../local-aws/src/template/read.ts';

const dist = join(import.meta.dirname, 'dist');
const assets = join(dist, 'assets');

/** Replaces the assets of the checkout by those of the package. */
const packedAssets: Plugin = {
  name: 'packed-assets',
  setup({ onResolve }) {
    onResolve({ filter: /\/assets\.ts$/ }, () => ({ path: join(import.meta.dirname, 'src/packed-assets.ts') }));
  },
};

/** Writes `dist`: the construct with its types, and the assets of the stack. */
async function main(): Promise<void> {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  writeFileSync(join(assets, 'service.json'), `${JSON.stringify({ version })}\n`);
  const bundled = [...(await bundleConstruct()), ...(await copyBundles())];
  writeFileSync(join(dist, 'third-party-licenses.txt'), licencesOf(bundled));
  copyContexts();
  run(pageBuild(join(assets, 'page')));
  writeTypes();
}

/** Bundles the construct as CommonJS, which both kinds of modules can import, and returns its sources. */
async function bundleConstruct(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: [join(import.meta.dirname, 'src/index.ts')],
    outfile: join(dist, 'index.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    external: ['aws-cdk-lib', 'constructs'],
    define: { 'import.meta.dirname': '__dirname' },
    plugins: [packedAssets],
    metafile: true,
    logLevel: 'warning',
  });
  writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
  return Object.keys(metafile.inputs);
}

/** Copies the bundles of all functions that any preset has, and returns their sources. */
async function copyBundles(): Promise<string[]> {
  const entries = [...(await entriesWith({})), ...(await entriesWith({ preset: 'small' }))];
  return [...(await currentBundleFolders(entries))].flatMap(([entry, { root, metafile }]) => {
    cpSync(root, join(assets, 'bundles', relative(projectRoot, entry).replace(/\.ts$/, '')), { recursive: true });
    return Object.keys(JSON.parse(readFileSync(metafile, 'utf8')).inputs);
  });
}

/** Returns the modules of the zip functions that a stack has with context values. */
async function entriesWith(context: Record<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-cdk-'));
  try {
    const template = await synthesize(folder, context);
    const origins = { api: 'http://localhost', gate: 'http://localhost' };
    const { functions } = readTemplate({ template, root: projectRoot, origins, parameters: {} });
    return functions.flatMap(({ packaging, entry }) => (packaging === 'zip' ? entry : []));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the build contexts of the engines' images. */
function copyContexts(): void {
  for (const catalogue of engineCatalogues) {
    if (catalogue.resources.packaging === 'worker') continue;
    const folder = folderOf(catalogue);
    cpSync(stageContext(folder), join(assets, 'images', folder), { recursive: true });
  }
}

/** Writes the types of the construct, which name nothing of the checkout. */
function writeTypes(): void {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-cdk-'));
  try {
    run([join(projectRoot, 'node_modules/.bin/tsc'), '-p', import.meta.dirname, '--outDir', folder]);
    for (const name of ['index', 'lathe', 'props'])
      cpSync(join(folder, `packages/cdk/src/${name}.d.ts`), join(dist, `${name}.d.ts`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the licences of the packages among source files. */
function licencesOf(files: string[]): string {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const path = join(projectRoot, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version}, ${license}\n\n${file ? readFileSync(join(path, file), 'utf8').trim() : ''}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

await main();
