import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';

/** Names of the sources in their folder. */
export const sources = {
  photo: 'photo.jpg',
  /** Stored sideways, with EXIF orientation 6 and a copyright. */
  turned: 'turned.jpg',
  /** Stored mirrored and sideways, with EXIF orientation 7. */
  mirrored: 'mirrored.jpg',
  grey: 'grey.jpg',
  cmyk: 'cmyk.jpg',
  displayP3: 'display-p3.jpg',
  webp: 'photo.webp',
  avif: 'photo.avif',
  transparent: 'transparent.png',
  deep: 'deep.png',
  palette: 'palette.png',
  framed: 'framed.png',
  wide: 'wide.png',
  tall: 'tall.png',
  animation: 'animation.gif',
  animatedWebp: 'animation.webp',
  drawing: 'drawing.svg',
  bitmap: 'photo.bmp',
  tiff: 'photo.tiff',
} as const;
export type SourceName = keyof typeof sources;

export const watermark = 'watermark.png';

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="240" viewBox="0 0 320 240">
  <rect x="10" y="10" width="300" height="220" rx="24" fill="#204080"/>
  <circle cx="110" cy="110" r="70" fill="#e03020"/>
  <path d="M180 40 L290 60 L230 190 Z" fill="#f0e0a0" stroke="#101010" stroke-width="6"/>
  <text x="40" y="215" font-family="sans-serif" font-size="28" fill="#ffffff">Lathe</text>
</svg>`;

const badge = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60">
  <rect width="120" height="60" rx="12" fill="#c02040" fill-opacity="0.8"/><circle cx="30" cy="30" r="18" fill="#ffffff"/>
</svg>`;

/**
 * Makes an image with the detail of a photograph: brightness that varies at all scales, colours that vary at large ones,
 * edges, and an area that draws attention.
 */
async function scene(width: number, height: number): Promise<Sharp> {
  const octaves = await Promise.all(
    [1, 2, 4, 8, 16, 32, 64].map(async (step) => {
      const noise = { type: 'gaussian' as const, mean: 128, sigma: Math.min(60, 10 + step) };
      const size = {
        width: Math.max(2, Math.ceil(width / step / 4)),
        height: Math.max(2, Math.ceil(height / step / 4)),
      };
      const small = await sharp({ create: { ...size, channels: 3, background: 'black', noise } })
        .png()
        .toBuffer();
      return sharp(small).resize({ width, height, fit: 'fill', kernel: 'cubic' }).raw().toBuffer();
    }),
  );
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < pixels.length; at++) {
    // The same for red, green and blue in fine detail, as in photographs.
    const sum = octaves.reduce((all, octave, scale) => all + (octave[scale < 4 ? at - (at % 3) : at] ?? 0) - 128, 0);
    pixels[at] = Math.max(0, Math.min(255, 120 + sum * 0.8));
  }
  const [x, y, r] = [width * 0.7, height * 0.35, Math.min(width, height) * 0.18];
  const subject = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <circle cx="${x}" cy="${y}" r="${r}" fill="#e8a060"/><circle cx="${x - r / 3}" cy="${y - r / 4}" r="${r / 8}" fill="#202020"/>
    <circle cx="${x + r / 3}" cy="${y - r / 4}" r="${r / 8}" fill="#202020"/>
    <rect x="${width * 0.1}" y="${height * 0.6}" width="${width * 0.3}" height="${height * 0.25}" fill="#2050a0"/>
    <path d="M${width * 0.05} ${height * 0.5} L${width * 0.3} ${height * 0.1} L${width * 0.5} ${height * 0.5} Z" fill="#30803a"/>
  </svg>`;
  const layered = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .composite([{ input: Buffer.from(subject) }])
    .removeAlpha()
    .png({ compressionLevel: 1 })
    .toBuffer();
  return sharp(layered);
}

/** Writes all sources and the watermark to a folder. */
export async function makeSources(folder: string): Promise<void> {
  const photo = await scene(1600, 1200);
  const portrait = await scene(900, 1400);
  const small = await (await scene(600, 450)).png().toBuffer();
  const write = (name: string, image: Sharp) => image.toFile(join(folder, name));
  const mask = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="450"><ellipse cx="300" cy="225" rx="280" ry="200" fill="#fff" fill-opacity="0.9"/></svg>',
  );
  const transparent = await sharp(small)
    .ensureAlpha()
    .composite([{ input: mask, blend: 'dest-in' }])
    .png()
    .toBuffer();
  const copyright = { IFD0: { Copyright: 'Example Ltd', Artist: 'A. Photographer', ImageDescription: 'A scene' } };
  await Promise.all([
    write(sources.photo, photo.clone().jpeg({ quality: 92 })),
    write(sources.turned, (await stored(photo, 270)).withExif({ IFD0: { ...copyright.IFD0, Orientation: '6' } })),
    write(sources.mirrored, (await stored(photo, 270, true)).withExif({ IFD0: { Orientation: '7' } })),
    write(sources.grey, photo.clone().greyscale().toColourspace('b-w').jpeg({ quality: 92 })),
    write(sources.cmyk, photo.clone().resize(800).toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 92 })),
    write(sources.displayP3, photo.clone().withIccProfile('p3').jpeg({ quality: 92 })),
    write(sources.webp, portrait.clone().webp({ quality: 90 })),
    write(sources.avif, portrait.clone().resize(600).avif({ quality: 80, effort: 2 })),
    writeFile(join(folder, sources.transparent), transparent),
    write(sources.deep, sharp(small).toColourspace('rgb16').png()),
    write(sources.palette, sharp(small).png({ palette: true, colours: 64 })),
    write(
      sources.framed,
      sharp(small).extend({ left: 40, right: 90, top: 25, bottom: 60, background: '#e0e0f0' }).png(),
    ),
    write(sources.wide, (await scene(2400, 300)).png({ compressionLevel: 1 })),
    write(sources.tall, (await scene(260, 1900)).png({ compressionLevel: 1 })),
    write(sources.animation, (await animation(transparent)).gif({ delay: [80, 120, 200, 100, 90], loop: 3 })),
    write(
      sources.animatedWebp,
      (await animation(small)).webp({ quality: 90, delay: [80, 120, 200, 100, 90], loop: 0 }),
    ),
    writeFile(join(folder, sources.drawing), drawing),
    writeFile(join(folder, sources.bitmap), await bitmap(small)),
    write(sources.tiff, portrait.clone().tiff({ compression: 'lzw' })),
    write(watermark, sharp(Buffer.from(badge)).png()),
  ]);
}

/** Returns the pixels as a camera stores them that is held sideways. */
async function stored(photo: Sharp, angle: number, isMirrored = false): Promise<Sharp> {
  const turned = await photo.clone().flop(isMirrored).rotate(angle).png({ compressionLevel: 1 }).toBuffer();
  return sharp(turned).jpeg({ quality: 92 });
}

async function animation(picture: Buffer): Promise<Sharp> {
  const frames = await Promise.all(
    [0, 1, 2, 3, 4].map(async (index) => {
      const box = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><rect width="60" height="60" fill="#ffe000"/></svg>`;
      return sharp(picture)
        .resize(240, 180)
        .composite([{ input: Buffer.from(box), left: 20 + index * 30, top: 60 }])
        .png()
        .toBuffer();
    }),
  );
  return sharp(frames, { join: { animated: true } });
}

/** Writes an uncompressed bitmap with 24 bits per pixel, as Windows does: lines from the bottom, blue before red. */
async function bitmap(picture: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const line = Math.ceil((info.width * 3) / 4) * 4;
  const file = Buffer.alloc(54 + line * info.height);
  file.write('BM', 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(info.width, 18);
  file.writeInt32LE(info.height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let y = 0; y < info.height; y++) {
    for (let x = 0; x < info.width; x++) {
      const [red = 0, green = 0, blue = 0] = data.subarray((y * info.width + x) * 3);
      file.set([blue, green, red], 54 + (info.height - 1 - y) * line + x * 3);
    }
  }
  return file;
}
