import type { Page } from 'puppeteer-core';
import sharp from 'sharp';
import { EngineError } from '../engine.ts';
import { contentSize } from './metrics.ts';
import type { ImageTarget, LoadOptions } from './targets.ts';

/** Beyond this a picture is of no use to anyone and costs gigabytes. */
const mostPixels = 120_000_000;
/** Chromium's surfaces end at 16,384 pixels; taller pages are taken in parts. */
const sliceHeight = 8000;
/** What the formats themselves can hold. */
const longestSide: Record<ImageTarget['format'], number> = { png: 200_000, jpg: 65_500, webp: 16_383 };

/** Takes a picture of a page and writes it in the wanted format. */
export async function writeScreenshot(
  page: Page,
  target: ImageTarget,
  load: LoadOptions,
  output: string,
): Promise<void> {
  const scale = load.deviceScale ?? 1;
  const { width, height } = await extent(page, target.fullPage);
  const pixels = { width: Math.round(width * scale), height: Math.round(height * scale) };
  checkExtent(pixels, target);
  const slices: { input: Buffer; top: number; left: number }[] = [];
  const step = Math.floor(sliceHeight / scale);
  for (let top = 0; top < height; top += step) {
    const part = await page.screenshot({
      type: 'png',
      clip: { x: 0, y: top, width, height: Math.min(step, height - top) },
      captureBeyondViewport: target.fullPage,
      optimizeForSpeed: true,
    });
    slices.push({ input: Buffer.from(part), top: Math.round(top * scale), left: 0 });
  }
  const [first] = slices;
  if (!first) throw new EngineError('The page has no height, so there is nothing to show.');
  const image =
    slices.length === 1
      ? sharp(first.input)
      : sharp({ create: { ...pixels, channels: 3, background: '#ffffff' }, limitInputPixels: mostPixels }).composite(
          slices,
        );
  const quality = target.quality ?? 90;
  if (target.format === 'jpg') image.flatten({ background: '#ffffff' }).jpeg({ quality });
  else if (target.format === 'webp') image.webp({ quality });
  else image.png();
  const written = await image.toFile(output);
  // A picture may be off by the rounding of a scale that is no whole number, and by nothing else.
  if (Math.abs(written.width - pixels.width) > 4 || Math.abs(written.height - pixels.height) > 4)
    throw new Error(
      `Expected ${pixels.width} × ${pixels.height} pixels but took ${written.width} × ${written.height}.`,
    );
}

async function extent(page: Page, isWhole: boolean): Promise<{ width: number; height: number }> {
  const viewport = page.viewport() ?? { width: 1440, height: 900 };
  if (!isWhole) return { width: viewport.width, height: viewport.height };
  const content = await contentSize(page);
  return { width: Math.max(viewport.width, content.width), height: Math.max(1, content.height) };
}

function checkExtent({ width, height }: { width: number; height: number }, { format }: ImageTarget): void {
  const size = `${width.toLocaleString('en')} × ${height.toLocaleString('en')} pixels`;
  const advice = 'Set full_page to false, or reduce scale.';
  if (width * height > mostPixels)
    throw new EngineError(`The page is ${size} large, more than ${mostPixels / 1_000_000} million pixels. ${advice}`);
  const most = longestSide[format];
  if (Math.max(width, height) > most)
    throw new EngineError(
      `The page is ${size} large, and a ${format} can be at most ${most.toLocaleString('en')} pixels long. ${advice} Another format may hold it.`,
    );
}
