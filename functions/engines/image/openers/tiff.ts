import type { InputFile } from '../../runtime/engine.ts';
import type { Frame } from '../codecs/magick.ts';
import { type LabCoding, labToScreen } from '../decoders/lab.ts';
import { routeTiff } from '../decoders/tiff.ts';
import type { Reading } from '../formats.ts';
import { maxPixelsAtOnce } from '../limits.ts';
import { openWithMagick } from './magick.ts';
import { checkFrames, checkSize, fromFrames, type Opening, type Picture } from './opened.ts';
import { openWithSharp } from './sharp.ts';

/** Opens a TIFF. libvips reads most kinds, some of them after rewriting; ImageMagick reads a few others. */
export async function openTiff(input: InputFile, read: Reading<'tiff'>, opening: Opening): Promise<Picture> {
  const route = await routeTiff(input.path);
  if (route.by === 'magick') {
    const pages = read.several ? route.pages : route.pages.slice(0, 1);
    for (const page of pages) checkSize(input, page);
    const pixels = Math.max(0, ...pages.map(({ width, height }) => width * height));
    checkFrames(input, pages.length, pixels, maxPixelsAtOnce);
    return openWithMagick(input, { ...read, by: 'magick', format: 'TIFF' }, opening);
  }
  // libtiff warns about tags that nothing depends on. Missing pixels are an error.
  const source = 'bytes' in route ? route.bytes : input.path;
  const picture = await openWithSharp(input, read, { ...opening, tolerant: true }, source);
  return 'lab' in route && route.lab.some((coding) => coding) ? fromLab(picture, route.lab) : picture;
}

/** Decodes the pages and converts those in Lab colours. */
async function fromLab(picture: Picture, lab: (LabCoding | undefined)[]): Promise<Picture> {
  const frames: Frame[] = [];
  for (let index = 0; index < picture.frames; index++) {
    const coding = lab[index];
    const image = picture.frame(index).toColourspace(coding ? 'rgb16' : 'srgb');
    const { data, info } = await image
      .raw({ depth: coding ? 'ushort' : 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    if (coding && (channels === 3 || channels === 4)) {
      const pixels = new Uint16Array(data.buffer, data.byteOffset, data.length / 2);
      frames.push(labToScreen({ pixels, width, height, channels, coding, isDeep: picture.deep }));
    } else frames.push({ data, width, height, channels: channels === 1 || channels === 4 ? channels : 3 });
  }
  return fromFrames(frames, { density: picture.density, several: 'pages' });
}
