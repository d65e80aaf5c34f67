import { createReadStream } from 'node:fs';
import { EngineError } from './engine.ts';

/** Renderers need four bytes of memory per pixel. A3 scanned at 1,200 dpi has 278 million pixels. */
const maxPicturePixels = 300_000_000;
/** Longer than the dictionary of any image. */
const maxDictionary = 4_096;

/**
 * Rejects a PDF with an image that is too large to render. Reads only the dictionaries of images and decodes nothing, so
 * images in compressed objects are left to the limits of processor time and memory.
 */
export async function checkPictures(path: string): Promise<void> {
  let before = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 ** 2 })) {
    const bytes = Buffer.concat([before, chunk]);
    for (let at = bytes.indexOf('stream'); at >= 0; at = bytes.indexOf('stream', at + 1))
      checkDictionary(bytes.toString('latin1', Math.max(0, at - maxDictionary), at));
    before = bytes.subarray(-maxDictionary);
  }
}

function checkDictionary(text: string): void {
  const dictionary = text.slice(text.lastIndexOf(' obj') + 1);
  if (!/\/Subtype\s*\/Image\b/.test(dictionary)) return;
  const [width = 0, height = 0] = ['Width', 'Height'].map((name) =>
    Number(new RegExp(`/${name}\\s+(\\d+)`).exec(dictionary)?.[1] ?? 0),
  );
  if (width * height > maxPicturePixels)
    throw new EngineError(
      `The PDF contains a picture of ${width} × ${height} pixels; the maximum is ${maxPicturePixels / 1_000_000} million pixels. Scale it down.`,
    );
}
