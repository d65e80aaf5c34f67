import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { catalogue } from '../../../functions/engines/webpage/catalogue.ts';
import { check } from '../../../functions/engines/webpage/check.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { detectFormat } from '../../../shared/catalogue/detect.ts';
import { matrix } from './matrix.ts';
import { convertFile, temporaryFolder } from './site.ts';

const known = new Catalogue([catalogue]);

describe('the webpage engine', () => {
  afterAll(closeBrowser);

  it('runs here', async () => {
    expect(await check()).toEqual({});
  });

  it.each([
    ['html', 'pdf'],
    ['html', 'png'],
    ['html', 'jpg'],
    ['html', 'webp'],
    ['xhtml', 'pdf'],
    ['xhtml', 'png'],
    ['xhtml', 'jpg'],
    ['xhtml', 'webp'],
  ])('renders a %s as %s that shows the page', async (from, to) => {
    const path = await matrix.sample(from, await temporaryFolder());

    const output = await convertFile(path, from, to);

    expect(output.name).toBe(`sample.${to}`);
    await matrix.verify({ path: output.path, format: to }, { path, format: from }, 'convert');
  });

  it.each(known.inputs('convert', '*'))('detects a sample under the name of .%s', async (ext) => {
    const canonical = known.canonical(ext);
    const start = await readFile(await matrix.sample(canonical, await temporaryFolder()));

    expect(await detectFormat(known, start, `Sample.${ext}`)).toBe(canonical);
  });
});
