import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../../infra/bundling.ts';
import { containers, stageContainer } from '../../../infra/images/container.ts';
import { download, taskOf } from '../../support/client.ts';
import { twoHalves } from '../../support/images.ts';
import { startService } from '../../support/running-stack.ts';

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  cpSync(await stageContainer('container-small'), folder, { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the service runs from the build context of its image, with the packages in it alone', async () => {
  const { packages }: { packages: object } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  // Nested packages come with their parents.
  // The lock file names the binaries of every platform; this machine has only its own.
  for (const place of Object.keys(packages).filter((path) => path.lastIndexOf('node_modules/') === 0))
    if (existsSync(join(projectRoot, place)))
      cpSync(join(projectRoot, place), join(folder, place), { recursive: true });
  const settings = { LATHE_BUILT: join(folder, 'built'), NODE_COMPILE_CACHE: join(folder, 'compiled') };
  await using service = await startService(settings, folder);

  const picture = `data:image/png;base64,${(await twoHalves(40, 20)).toString('base64')}`;
  const job = await service.client.runJob({
    import: { operation: 'import/base64', filename: 'picture.png', file: picture },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  });

  expect((await download(taskOf(job, 'convert').result.url ?? '')).toString('latin1')).toMatch(/^RIFF....WEBP/s);
  const page = await fetch(service.url);
  expect(await page.text()).toContain('<div id="app">');
  expect(existsSync(join(folder, 'node_modules/aws-cdk-lib'))).toBe(false);
});

test('the smaller image has the same programs but for those of LibreOffice and Calibre', async () => {
  const programs = async (name: string) =>
    readFileSync(join(await stageContainer(name), 'packages.txt'), 'utf8')
      .trim()
      .split('\n');
  expect(containers).toEqual(['container', 'container-small']);
  const [all, some] = [await programs('container'), await programs('container-small')];
  expect(some.filter((each) => !all.includes(each))).toEqual([]);
  const missing = all.filter((each) => !some.includes(each));
  expect(missing).toEqual(expect.arrayContaining(['calibre', 'libreoffice-writer-nogui', 'python3-uno']));
  expect(missing.every((each) => /^(?:calibre|libreoffice-.+|python3-uno)$/.test(each))).toBe(true);
  expect(all).toEqual(expect.arrayContaining(['ffmpeg', 'ghostscript', 'tini']));
});
