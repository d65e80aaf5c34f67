import { describe, expect, it } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import {
  changesPicture,
  encodingOptions,
  withPictureOptions,
} from '../../../functions/engines/image/encoding-options.ts';
import { imageFormat, imageFormats, spellings } from '../../../functions/engines/image/formats.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';

const catalogue = new Catalogue(engineCatalogues);
const pictures = spellings(imageFormats.filter(({ ext, write }) => write && ext !== 'pdf'));
/** Pages keep their lines as they are in these, so that nothing of a picture applies. */
const drawings = ['eps', 'ps'];

/** Every pair by which another engine than that of images makes pictures. */
const rendered = catalogue.engines
  .filter(({ engine }) => engine !== 'image')
  .flatMap(({ engine, capabilities }) =>
    capabilities
      .filter(({ operation }) => operation === 'convert')
      .flatMap(({ to, options }) =>
        to
          .filter((ext) => pictures.includes(ext) && !drawings.includes(ext))
          .map((ext) => ({ engine, ext: catalogue.canonical(ext), options })),
      ),
  );

describe('The options of a picture', () => {
  it('are offered by every engine that makes one', () => {
    const found = [...new Set(rendered.map(({ engine, ext }) => `${engine} ${ext}`))].sort();
    expect(found).toEqual([
      'document jpg',
      'document png',
      'document tiff',
      'document webp',
      'media apng',
      'media gif',
      'media jpg',
      'media png',
      'media webp',
      'webpage jpg',
      'webpage png',
      'webpage webp',
    ]);
    for (const { engine, ext, options } of rendered) {
      const names = options.map(({ name }) => name);
      const wanted = [...encodingOptions(imageFormat(ext)).map(({ name }) => name), 'strip'];
      expect(names, `${engine} to ${ext}`).toEqual(expect.arrayContaining(wanted));
      expect(new Set(names).size, `${engine} to ${ext} names each once`).toBe(names.length);
      expect(names).not.toContain('page');
      expect(names).not.toContain('auto-orient');
    }
  });

  it('come with their conditions', () => {
    const { options } = rendered.find(({ engine, ext }) => engine === 'webpage' && ext === 'png') ?? { options: [] };
    expect(checkOptions(options, { png_compression_level: 'lossy', png_convert_quality: 60 }).errors).toEqual({});
    expect(checkOptions(options, { png_convert_quality: 60 }).errors).toEqual({
      png_convert_quality: [expect.stringContaining('only together with png_compression_level set to one of "lossy"')],
    });
  });

  it.each([
    [{}, false],
    [{ png_compression_level: 'light', fit: 'crop', strip: false, progressive: false }, false],
    [{ png_compression_level: 'none' }, true],
    [{ image_custom_width: 300 }, true],
    [{ background: '#ffffff' }, true],
    [{ image_dpi: 300 }, true],
  ])('%j ask for another picture than the renderer writes: %s', (given, expected) => {
    const offered = withPictureOptions([], 'png');
    expect(changesPicture(checkOptions(offered, given).values, offered, [])).toBe(expected);
  });

  it('that the renderer follows itself do not', () => {
    const offered = withPictureOptions([], 'jpg');
    expect(changesPicture({ quality: 20, image_dpi: 300 }, offered, ['quality', 'image_dpi'])).toBe(false);
    expect(changesPicture({ quality: 20, image_dpi: 300 }, offered, ['quality'])).toBe(true);
  });
});
