import type { CDPSession } from 'puppeteer-core';
import sharp, { type Sharp } from 'sharp';
import { changesSize } from '../image/encoding-options.ts';
import { EngineError } from '../runtime/engine.ts';
import type { Place } from './browser.ts';
import { contentSize } from './metrics.ts';
import { type ImageTarget, type LoadOptions, type Viewport, viewportOf } from './targets.ts';

/** Larger images are of no use and need gigabytes. */
const maxPixels = 120_000_000;
/** Chromium's surfaces are limited to 16,384 pixels; taller pages are captured in parts. */
const sliceHeight = 8000;
/** Limits of the formats themselves. */
const maxSide: Record<ImageTarget['format'], number> = { png: 200_000, jpg: 65_500, webp: 16_383 };

const usualQuality = 90;

type Size = Pick<Viewport, 'width' | 'height'>;

/** Captures a page as an image in the requested format. */
export async function writeScreenshot(
  { session }: Place,
  target: ImageTarget,
  load: LoadOptions,
  output: string,
): Promise<void> {
  const scale = load.deviceScale ?? 1;
  const { format, picture } = target;
  const { width, height } = await extent(session, viewportOf(load), target.fullPage);
  const pixels = { width: Math.round(width * scale), height: Math.round(height * scale) };
  // An image that is scaled down afterwards may exceed the limits of its format before.
  checkExtent(pixels, picture && changesSize(picture) ? 'png' : format);
  // Areas that the page leaves empty get the requested colour instead of the browser's white.
  const isTransparent = picture?.background !== undefined;
  if (isTransparent)
    await session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
  const slices: { input: Buffer; top: number; left: number }[] = [];
  const step = Math.floor(sliceHeight / scale);
  for (let top = 0; top < height; top += step) {
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'png',
      clip: { x: 0, y: top, width, height: Math.min(step, height - top), scale: 1 },
      captureBeyondViewport: target.fullPage,
      optimizeForSpeed: true,
    });
    slices.push({ input: Buffer.from(data, 'base64'), top: Math.round(top * scale), left: 0 });
  }
  const [first] = slices;
  if (!first) throw new EngineError('The page has no height, so there is nothing to capture.');
  const image =
    slices.length === 1
      ? sharp(first.input)
      : sharp({ create: { ...pixels, ...canvas(isTransparent) }, limitInputPixels: maxPixels }).composite(slices);
  if (picture) {
    // In one pipeline, scaling would precede joining, so joining is a separate step.
    const source = slices.length === 1 ? first.input : await image.png({ compressionLevel: 1 }).toBuffer();
    checkTaken(await sharp(source, { limitInputPixels: maxPixels }).metadata(), pixels);
    // Loaded only if needed: most screenshots are not processed further.
    const { finishPicture } = await import('../image/finish.ts');
    await finishPicture({ source, format, options: { quality: usualQuality, ...picture }, path: output });
  } else checkTaken(await encode(image, target).toFile(output), pixels);
}

function canvas(isTransparent: boolean): { channels: 3 | 4; background: string } {
  return isTransparent ? { channels: 4, background: '#00000000' } : { channels: 3, background: '#ffffff' };
}

function encode(image: Sharp, { format, quality = usualQuality }: ImageTarget): Sharp {
  if (format === 'jpg') return image.flatten({ background: '#ffffff' }).jpeg({ quality });
  return format === 'webp' ? image.webp({ quality }) : image.png();
}

function checkTaken(written: { width: number; height: number }, pixels: { width: number; height: number }): void {
  // The size may differ only by rounding, if the scale is not a whole number.
  if (Math.abs(written.width - pixels.width) > 4 || Math.abs(written.height - pixels.height) > 4)
    throw new Error(
      `Expected ${pixels.width} × ${pixels.height} pixels but took ${written.width} × ${written.height}.`,
    );
}

async function extent(session: CDPSession, viewport: Size, isWhole: boolean): Promise<Size> {
  if (!isWhole) return { width: viewport.width, height: viewport.height };
  const content = await contentSize(session);
  return { width: Math.max(viewport.width, content.width), height: Math.max(1, content.height) };
}

function checkExtent({ width, height }: { width: number; height: number }, format: ImageTarget['format']): void {
  const size = `${width.toLocaleString('en')} × ${height.toLocaleString('en')} pixels`;
  const advice = 'Set full_page to false, or reduce scale.';
  if (width * height > maxPixels)
    throw new EngineError(`The page is ${size}; the maximum is ${maxPixels / 1_000_000} million pixels. ${advice}`);
  const max = maxSide[format];
  if (Math.max(width, height) > max)
    throw new EngineError(
      `The page is ${size}; the maximum for ${format} is ${max.toLocaleString('en')} pixels per side. ${advice} Another format may allow more.`,
    );
}
