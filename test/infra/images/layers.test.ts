import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { findProgram } from '../../../functions/engines/runtime/find-program.ts';
import { catalogue } from '../../../functions/engines/webpage/catalogue.ts';
import { synthesize } from '../../../infra/build/synth.ts';
import { currentTemplate } from '../../../infra/build/template-cache.ts';
import { projectRoot } from '../../../infra/bundling.ts';
import { layerOf } from '../../../infra/constructs/layers.ts';
import { stageContext } from '../../../infra/images/context.ts';
import { closureOf } from '../../../infra/images/lock-file.ts';
import { withoutPerl } from '../../../infra/images/without-perl.ts';
import { startZip } from '../../../infra/images/zip.ts';
import { samples } from '../../../infra/smoke/samples.ts';
import type { LocalFunction } from '../../../packages/local-aws/src/template/model.ts';
import { readTemplate } from '../../../packages/local-aws/src/template/read.ts';
import { onlyInBreadth } from '../../support/breadth.ts';
import { skipBecause } from '../../support/skip.ts';
import { EngineHost, givenByLambda } from './engine-host.ts';

/** Lambda's limit for a function with all its layers, unzipped. */
const maxBytes = 250 * 1024 ** 2;
/** Tests do not access the npm registry, so the binaries of this platform are measured instead of Lambda's. */
const webpage = 'functions/engines/webpage';

let folder: string;
/** The PATH of a machine that can deploy, without Debian programs. */
let bare: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  // Readable for the user of functions.
  chmodSync(folder, 0o755);
  bare = join(folder, 'bin');
  mkdirSync(bare);
  symlinkSync(process.execPath, join(bare, 'node'));
  for (const name of ['npm', 'sh']) symlinkSync(realpathSync((await findProgram(name)) ?? name), join(bare, name));
  mkdirSync(join(folder, 'opt'));
  vi.stubEnv('PATH', bare);
  const app = new App({ outdir: join(folder, 'layers') });
  const stack = new Stack(app, 'Layers');
  for (const name of catalogue.resources.layers ?? []) layerOf(stack, name);
  vi.unstubAllEnvs();
  for (const asset of readdirSync(app.outdir)) {
    for (const name of readdirSync(join(app.outdir, asset)))
      symlinkSync(join(app.outdir, asset, name), join(folder, 'opt', name));
  }
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bytesOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.size ?? 0;
  return readdirSync(path).reduce((total, name) => total + bytesOf(join(path, name)), 0);
}

// Regression: only the deploying user could read the folder of the fonts, and pages were drawn without text.
test('every file and folder of the layers can be read by the user of functions', () => {
  const closed = readdirSync(join(folder, 'layers'), { recursive: true, withFileTypes: true })
    .map((entry) => ({ path: join(entry.parentPath, entry.name), needed: entry.isDirectory() ? 0o5 : 0o4 }))
    .filter(({ path, needed }) => (statSync(path).mode & needed) !== needed);
  expect(closed.map(({ path }) => path)).toEqual([]);
});

test('the layers and the function fit the limit of Lambda', () => {
  const context = stageContext(webpage);
  const lock = JSON.parse(readFileSync(join(context, 'package-lock.json'), 'utf8'));
  const { dependencies } = JSON.parse(readFileSync(join(context, 'package.json'), 'utf8'));
  const packages = [...closureOf(lock, Object.keys(dependencies))].filter(
    (place) => place.lastIndexOf('node_modules/') === 0,
  );
  const sizes = [
    bytesOf(join(folder, 'opt')),
    bytesOf(context),
    ...packages.map((place) => bytesOf(join(projectRoot, place))),
  ];
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(100 * 1024 ** 2);
  expect(total).toBeLessThanOrEqual(maxBytes);
});

test('the web page engine is an image on both architectures, or optionally a zip on its layers', async () => {
  vi.stubEnv('PATH', bare);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(webpageFunction(await currentTemplate())).toMatchObject({ layers: [], packaging: 'image' });
  const onLayers = webpageFunction(await synthesize(join(folder, 'zip'), { webpagePackaging: 'zip' }));
  expect(onLayers).toMatchObject({ layers: [join(projectRoot, 'layers/chromium'), join(projectRoot, 'layers/fonts')] });
  const onArm = await synthesize(join(folder, 'arm64'), { architecture: 'arm64' });
  expect(webpageFunction(onArm)).toMatchObject({ layers: [], packaging: 'image' });
  const template: { Resources: Record<string, { Type: string; Properties: object }> } = JSON.parse(
    readFileSync(onArm, 'utf8'),
  );
  const images = Object.values(template.Resources).filter(
    ({ Type, Properties }) => Type === 'AWS::Lambda::Function' && 'PackageType' in Properties,
  );
  expect(images).toHaveLength(engineCatalogues.filter(({ resources }) => resources.packaging === 'image').length);
  for (const { Properties } of images) expect(Properties).toMatchObject({ Architectures: ['arm64'] });
}, 120_000);

// Bundling takes minutes, mostly for functions, which only run esbuild.
test.for(['image', 'zip'])(
  'npm run synth -- -c webpagePackaging=%s bundles everything with Node and npm alone',
  { ...onlyInBreadth, timeout: 900_000 },
  async (packaging) => {
    const output = join(folder, `synth-${packaging}`);
    await promisify(execFile)(
      join(bare, 'npm'),
      ['run', 'synth', '--', '-c', `webpagePackaging=${packaging}`, '--output', output],
      {
        cwd: projectRoot,
        env: { ...process.env, PATH: bare },
      },
    );
    expect(readdirSync(output)).toContain('Lathe.template.json');
  },
);

const hidden = withoutPerl(['test', '!', '-x', '/usr/bin/perl']);
const whyNotHidden =
  spawnSync(hidden[0] ?? '', hidden.slice(1)).status === 0 ? undefined : 'This system does not allow hiding Perl.';

// Lambda's runtime has no Perl, which the sandbox's launcher needs. README and the deploy guide explain the
// consequence.
test('a zip has no barrier but the clean environment', { ...skipBecause(whyNotHidden), timeout: 120_000 }, async () => {
  const root = join(folder, 'task');
  cpSync(stageContext(webpage), root, { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'index.mjs'), `export { handler } from './${webpage}/handler.ts';\n`);
  const host = await EngineHost.start();
  const { process: engine } = startZip({ root, layers: join(folder, 'opt') }, givenByLambda('webpage', host));
  onTestFinished(async () => {
    engine.kill('SIGKILL');
    await once(engine, 'exit');
    host.stop();
  });
  const sample = samples.find((each) => each.engine === 'webpage' && each.outputFormat === 'pdf');
  if (!sample) throw new Error('There is no such sample.');

  const output = await host.convert(sample);

  expect(output.subarray(0, 5).toString()).toBe('%PDF-');
  expect(host.barriers).toEqual(['environment']);
});

function webpageFunction(template: string): LocalFunction | undefined {
  const origins = { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' };
  const entry = join(projectRoot, webpage, 'handler.ts');
  return readTemplate({ template, origins, parameters: {} }).functions.find((fn) => fn.entry === entry);
}

test('the fonts of the layer cover every script that pages are drawn in', () => {
  const fonts = readdirSync(join(folder, 'opt/fonts/files')).join(' ');
  for (const name of [
    'Liberation',
    'NotoSansCJK',
    'NotoSansArabic',
    'NotoSansHebrew',
    'NotoSansDevanagari',
    'NotoColorEmoji',
  ])
    expect(fonts).toContain(name);
});

// The layer's package has a browser for this platform only.
test.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'a page is drawn by the browser of the layer, with its fonts',
  async () => {
    const page =
      '<body style="margin:0;background:white"><p style="font:40px serif">中文 한국어 हिन्दी עברית 😀</p></body>';
    writeFileSync(join(folder, 'page.html'), page);
    mkdirSync(join(folder, 'warm'));
    const script = `
      import { engine } from ${JSON.stringify(join(projectRoot, webpage, 'run.ts'))};
      import { closeBrowser } from ${JSON.stringify(join(projectRoot, webpage, 'browser.ts'))};
      import { findChromium } from ${JSON.stringify(join(projectRoot, webpage, 'chromium.ts'))};
      const inputs = [{ path: 'page.html', name: 'page.html', format: 'html', size: 100 }];
      const work = { operation: 'convert', inputs, outputFormat: 'png', options: {}, folder: '.', maxOutputBytes: 1e9 };
      await engine.run(work, { signal: new AbortController().signal, progress() {}, log() {} });
      await closeBrowser();
      console.log((await findChromium()).path);
      process.exit();`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        LATHE_CHROMIUM: '',
        LATHE_LAYERS: join(folder, 'opt'),
        LATHE_WARM: join(folder, 'warm'),
        LATHE_ALLOW_HOSTS: '',
      },
    });
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(code).toBe(0);
    expect(stdout.trim()).toBe(join(folder, 'warm/chromium'));
    const { data, info } = await sharp(join(folder, '0.png')).raw().toBuffer({ resolveWithObject: true });
    const colors = new Set<number>();
    for (let offset = 0; offset < data.length; offset += info.channels) colors.add(data.readUIntBE(offset, 3));
    // Black on white with shades of grey has fewer; the rest belong to the emoji.
    expect(colors.size).toBeGreaterThan(256);
  },
  60_000,
);
