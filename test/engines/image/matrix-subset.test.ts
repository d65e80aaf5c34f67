import { describe, expect, test } from 'vitest';
import { catalogue as imageCatalogue } from '../../../functions/engines/image/catalogue.ts';
import { imageFormats } from '../../../functions/engines/image/formats.ts';
import { onlyInBreadth } from '../../support/breadth.ts';
import { matrix, matrixOptions } from './matrix.ts';
import { catalogue, detectFile, inFolder, runForPath } from './run-engine.ts';

const inputs = imageFormats.filter(({ read }) => read).map(({ ext }) => ext);
const outputs = imageFormats.filter(({ write }) => write).map(({ ext }) => ext);

type Operation = 'convert' | 'compress' | 'crop' | 'merge';

async function prove(from: string, to: string, operation: Operation = 'convert'): Promise<void> {
  await inFolder(async (folder) => {
    const sample = await matrix.sample(from, folder);
    const detected = await detectFile(sample);
    const path = await runForPath({
      operation,
      inputs: operation === 'merge' ? [sample, sample] : [sample],
      outputFormat: to,
      options: matrixOptions[operation] ?? {},
      folder,
    });
    expect(detected).toBe(from);
    await matrix.verify({ path, format: to }, { path: sample, format: from }, operation);
  });
}

describe('Every image format', { timeout: 30_000 }, () => {
  const reads = (format: string) => prove(format, 'png');
  const writes = (format: string) => prove('png', format);
  // Of a format that is read and written `npm test` tries the one or the other.
  const both = inputs.filter((format) => outputs.includes(format));
  const isRead = (format: string) => !both.includes(format) || both.indexOf(format) % 2 === 0;
  const isWritten = (format: string) => !both.includes(format) || both.indexOf(format) % 2 === 1;
  const readName = '%s is known by its content and becomes the same picture in png.';
  const writtenName = '%s is written so that another program reads the same picture.';

  test.for(inputs.filter(isRead))(readName, reads);
  test.for(inputs.filter((format) => !isRead(format)))(readName, onlyInBreadth, reads);

  test.for(outputs.filter(isWritten))(writtenName, writes);
  test.for(outputs.filter((format) => !isWritten(format)))(writtenName, onlyInBreadth, writes);

  test.for(['jpg', 'png', 'webp', 'gif', 'avif'])('%s is compressed to the same picture.', (format) =>
    prove(format, format, 'compress'),
  );

  test.for(['jpg', 'gif', 'psd', 'tga'])('%s is cropped to the part that was asked for.', (format) =>
    prove(format, format, 'crop'),
  );

  test.for([
    ['png', 'pdf'],
    ['heic', 'gif'],
    ['pdf', 'gif'],
    ['pdf', 'pdf'],
  ] as const)('%s files are merged to %s.', ([from, to]) => prove(from, to, 'merge'));
});

describe('The catalogue', () => {
  test('Every capability names only formats that are listed.', () => {
    const listed = new Set(imageCatalogue.formats.map(({ ext }) => ext));
    const named = imageCatalogue.capabilities.flatMap(({ from, to }) => [...from, ...to]);
    expect(named.filter((ext) => !listed.has(ext))).toEqual([]);
  });

  test('jpg to pdf has the options of the specification.', () => {
    const options = catalogue.find('convert', 'jpg', 'pdf')?.capability.options ?? [];
    const [strip, size, , , enlarge] = options;
    expect(options.map(({ name }) => name)).toEqual([
      'strip',
      'pdf_page_size',
      'pdf_orientation',
      'pdf_image_alignment',
      'enlarge_images_to_fit',
    ]);
    expect(strip).toMatchObject({ data_type: 'boolean', default_value: 'true' });
    expect(size).toMatchObject({ data_type: 'string', type: 'enum' });
    expect(size?.default_value).toBeUndefined();
    expect(size?.enum_values?.slice(0, 3).map(({ value }) => value)).toEqual([
      'same-as-image',
      '1240.2x1753.95',
      '1753.95x2480.25',
    ]);
    expect(enlarge).toMatchObject({
      data_type: 'boolean',
      default_value: 'true',
      conditions: [{ name: 'pdf_page_size', required: true }],
    });
  });
});
