import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { byPdfLib, chapters, expectSound, folderOfFile, infoOf, only, pageTexts, render, runPdf } from './harness.ts';

const place = folderOfFile();
let made: Awaited<ReturnType<typeof chapters>>;
let photos: string;

beforeAll(async () => {
  made = await chapters(place.path, 2);
  photos = await withPhotos(join(place.path, 'photos.pdf'));
});

/** Two pages with the same photo, embedded twice, and a form field. */
async function withPhotos(path: string): Promise<string> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 30 };
  const photo = await sharp({ create: { width: 1200, height: 900, channels: 3, background: '#808080', noise } })
    .blur(2)
    .jpeg({ quality: 95 })
    .toBuffer();
  return byPdfLib(path, async (document) => {
    const font = await document.embedFont(StandardFonts.Helvetica);
    for (const number of [1, 2]) {
      const page = document.addPage([595, 842]);
      page.drawText(`Photo ${number}`, { x: 72, y: 780, size: 20, font });
      page.drawImage(await document.embedJpg(photo), { x: 72, y: 400, width: 400, height: 300 });
    }
    document
      .getForm()
      .createTextField('name')
      .addToPage(document.getPage(0), { x: 72, y: 300, width: 200, height: 24 });
  });
}

const sizeOf = async (path: string) => (await stat(path)).size;

describe('documents of several producers', () => {
  it.each(['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const)(
    'are never larger, and keep text, look and tags, of %s',
    async (producer) => {
      const path = only(await runPdf('pdf/optimize', made[producer]));

      await expectSound(path);
      expect(await sizeOf(path)).toBeLessThanOrEqual(await sizeOf(made[producer]));
      expect(await pageTexts(path)).toEqual(await pageTexts(made[producer]));
      expect(await infoOf(path, 'Tagged')).toBe(await infoOf(made[producer], 'Tagged'));
      const [before, after] = [await render(made[producer]), await render(path)];
      expect(after.dark()).toBe(before.dark());
    },
  );
});

describe('pictures', () => {
  it('are scaled down, compressed and embedded once', async () => {
    const { outputs } = await runPdf('pdf/optimize', photos, { options: { image_dpi: 100 } });
    const path = outputs[0]?.path ?? '';

    await expectSound(path);
    expect(await sizeOf(path)).toBeLessThan((await sizeOf(photos)) / 3);
    expect(await infoOf(path, 'Optimized')).toBe('yes');
    expect(await infoOf(path, 'Form')).toBe('AcroForm');
    const [red] = (await render(path, 2)).at(200, 300);
    expect(Math.abs(red - 128)).toBeLessThan(40);
  });

  it('meet a size', async () => {
    const path = only(
      await runPdf('pdf/optimize', photos, { options: { compress_pdf: 'by_size', pdf_compress_max_filesize: 0.1 } }),
    );
    expect(await sizeOf(path)).toBeLessThanOrEqual(100_000);
    const options = { compress_pdf: 'by_size', pdf_compress_max_filesize: 0.001 };
    await expect(runPdf('pdf/optimize', photos, { options })).rejects.toThrow(/smallest possible size/);
  });
});
