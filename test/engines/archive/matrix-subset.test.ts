import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../../../functions/engines/archive/catalogue.ts';
import { archiveFormats, writable } from '../../../functions/engines/archive/formats.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import { convert, temporaryFolder } from './convert.ts';
import { matrix } from './matrix.ts';

const known = new Catalogue([catalogue]);

describe('the archive engine', () => {
  it.each(Object.keys(archiveFormats))(
    'detects a %s and converts it to a zip with the same contents',
    async (format) => {
      const folder = await temporaryFolder();
      const path = await matrix.sample(format, folder);
      const start = (await readFile(path)).subarray(0, detectionBytes);

      const detected = await detectFormat(known, start, `sample.${format}`);
      const output = await convert(path, detected, 'zip');

      expect(detected).toBe(format);
      expect(output.name).toBe('sample.zip');
      await matrix.verify({ path: output.path, format: 'zip' }, { path, format }, 'convert');
    },
  );

  it.each(writable)('converts a zip to a %s with the same contents', async (format) => {
    const folder = await temporaryFolder();
    const path = await matrix.sample('zip', folder);

    const output = await convert(path, 'zip', format);
    const start = (await readFile(output.path)).subarray(0, detectionBytes);

    expect(output.name).toBe(`sample.${format}`);
    expect(await detectFormat(known, start, output.name)).toBe(format);
    await matrix.verify({ path: output.path, format }, { path, format: 'zip' }, 'convert');
  });

  it.each(known.formats())('detects a sample under the name of .%s', async (ext) => {
    const folder = await temporaryFolder();
    const canonical = known.canonical(ext);
    const start = (await readFile(await matrix.sample(canonical, folder))).subarray(0, detectionBytes);

    expect(await detectFormat(known, start, `Sample.${ext}`)).toBe(canonical);
  });
});
