import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { type Changes, picture } from '../../unit/api/pictures/pictures.ts';
import { test } from './folder-test.ts';
import { runDerivation } from './run-engine.ts';

/** Four quarters: red, green, blue and white, 400 × 200 pixels. */
const quarters = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200">
  <rect width="200" height="100" fill="#ff0000"/><rect x="200" width="200" height="100" fill="#00ff00"/>
  <rect y="100" width="200" height="100" fill="#0000ff"/><rect x="200" y="100" width="200" height="100" fill="#ffffff"/>
</svg>`;
const [red, green, blue, white] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
];
const png = () => sharp(Buffer.from(quarters)).removeAlpha().png();

interface Made {
  format: string;
  bytes: Buffer;
  width: number;
  height: number;
  /** Returns the channels of a pixel. */
  at(x: number, y: number): number[];
}

async function make(
  folder: string,
  source: Buffer | string,
  changes: Changes = {},
  accept = '',
  mark?: Buffer,
): Promise<Made> {
  const paths = [join(folder, 'source'), join(folder, 'mark')];
  await writeFile(join(folder, 'source'), source);
  if (mark) await writeFile(join(folder, 'mark'), mark);
  const output = await runDerivation(mark ? paths : paths.slice(0, 1), { spec: picture(changes), accept }, folder);
  const bytes = await readFile(output.path);
  const image = output.format === 'ico' ? bytes.subarray(22) : bytes;
  const { data, info } = await sharp(image).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => {
    const start = (y * info.width + x) * info.channels;
    return [...data.subarray(start, start + info.channels)];
  };
  return { format: output.format, bytes, width: info.width, height: info.height, at };
}

async function refusal(made: Promise<unknown>): Promise<string> {
  const failure: unknown = await made.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(EngineError);
  return failure instanceof EngineError ? failure.message : '';
}

const inPng: Changes = { format: 'png' };

describe('Sizes', () => {
  test.for<[string, Changes, string]>([
    ['fits within both sides', { resize: { width: 100, height: 100 } }, '100x50'],
    ['keeps the aspect ratio for one side', { resize: { height: 50 } }, '100x50'],
    ['fills both sides', { resize: { type: 'fill', width: 100, height: 100 } }, '100x100'],
    ['stretches', { resize: { type: 'force', width: 30, height: 90 } }, '30x90'],
    ['stretches one side only', { resize: { type: 'force', width: 30 } }, '30x200'],
    ['chooses to fill', { resize: { type: 'auto', width: 90, height: 60 } }, '90x60'],
    ['chooses to fit', { resize: { type: 'auto', width: 60, height: 90 } }, '60x30'],
    ['does not enlarge', { resize: { width: 1000 } }, '400x200'],
    ['enlarges if asked', { resize: { width: 1000, enlarge: true } }, '1000x500'],
    [
      'fills with the aspect ratio of a source that is too small',
      { resize: { type: 'fill-down', width: 800, height: 800 } },
      '200x200',
    ],
    ['multiplies by the pixel ratio', { resize: { width: 100, dpr: 2 }, padding: { left: 5 } }, '210x100'],
    ['lowers the pixel ratio for a small source', { resize: { width: 300, dpr: 2 }, padding: { left: 30 } }, '440x200'],
    ['keeps a minimum', { resize: { width: 20, minHeight: 50 } }, '20x50'],
    ['zooms', { resize: { width: 100, zoomX: 0.5, zoomY: 2 } }, '50x100'],
    ['extends', { resize: { width: 100, height: 100 }, extend: { type: 'ce', x: 0, y: 0 } }, '100x100'],
    [
      'extends to an aspect ratio',
      { resize: { width: 900, height: 900 }, extendAspectRatio: { type: 'ce', x: 0, y: 0 } },
      '400x400',
    ],
    ['turns', { rotate: 90, resize: { width: 50 } }, '50x100'],
    [
      'crops relative to the source',
      { crop: { width: 0.5, height: 0.5, gravity: { type: 'ce', x: 0, y: 0 } } },
      '200x100',
    ],
    ['limits the result with its padding', { padding: { left: 400 }, limits: { maxResultDimension: 400 } }, '400x100'],
  ])('%s', async ([_name, changes, size], { folder }) => {
    const { width, height } = await make(folder, await png().toBuffer(), { ...inPng, ...changes });

    expect(`${width}x${height}`).toBe(size);
  });
});

describe('Pixels', () => {
  const crop = (type: 'nowe' | 'soea', x = 0, y = 0) => ({ width: 20, height: 20, gravity: { type, x, y } });

  test.for<[string, Changes, number[] | undefined]>([
    ['the top left', { crop: crop('nowe') }, red],
    ['an offset in pixels', { crop: crop('nowe', 210, 5) }, green],
    ['a relative offset', { crop: crop('soea', 0.6, 0) }, blue],
    ['the corner after turning', { rotate: 90, crop: crop('nowe') }, blue],
    ['the corner after flipping', { flip: { horizontal: true }, crop: crop('nowe') }, green],
    ['the corner after both', { rotate: 270, flip: { horizontal: true, vertical: true }, crop: crop('nowe') }, blue],
    [
      'the focus point',
      { resize: { type: 'fill', width: 20, height: 200 }, gravity: { type: 'fp', x: 0.9, y: 0 } },
      green,
    ],
  ])('come from %s', async ([_name, changes, colour], { folder }) => {
    const made = await make(folder, await png().toBuffer(), { ...inPng, ...changes });

    expect(made.at(5, 5)).toEqual(colour);
  });

  test.for([1, 2, 3, 4, 5, 6, 7, 8])('follow EXIF orientation %i, also for crops', async (orientation, { folder }) => {
    const source = await png()
      .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
      .withMetadata({ orientation })
      .toBuffer();
    const shown = await sharp(source).autoOrient().raw().toBuffer({ resolveWithObject: true });

    const made = await make(folder, source, { ...inPng, crop: crop('nowe'), resize: { width: 10 } });

    expect([made.width, made.height]).toEqual([10, 10]);
    const expected = [...shown.data.subarray(0, 3)];
    for (const [channel, value] of made.at(5, 5).entries())
      expect(Math.abs(value - (expected[channel] ?? 0))).toBeLessThan(6);
  });

  test('are those of the stored image if it should not be turned', async ({ folder }) => {
    const source = await png().jpeg().withMetadata({ orientation: 6 }).toBuffer();

    const made = await make(folder, source, { ...inPng, autoRotate: false });

    expect([made.width, made.height]).toEqual([400, 200]);
  });

  test('outside the image are transparent, or have the colour of the background', async ({ folder }) => {
    const source = await png().toBuffer();
    const transparent = await make(folder, source, { ...inPng, padding: { left: 10, top: 20 } });
    const coloured = await make(folder, source, { ...inPng, padding: { left: 10, top: 20 }, background: '102030' });
    const opaque = await make(folder, source, { format: 'jpg', padding: { left: 10, top: 20 } });

    expect(transparent.at(5, 5)).toEqual([0, 0, 0, 0]);
    expect(transparent.at(15, 25)).toEqual([255, 0, 0, 255]);
    expect(coloured.at(5, 5)).toEqual([16, 32, 48]);
    expect(opaque.at(2, 2)).toEqual(white);
  });

  test('of the margins are trimmed, equally if asked', async ({ folder }) => {
    const framed = await png().extend({ left: 30, right: 10, top: 4, background: '#808080' }).toBuffer();
    const trim = { threshold: 10, color: null, equalHorizontal: false, equalVertical: false };
    const made = await make(folder, framed, { ...inPng, trim });
    const equal = await make(folder, framed, {
      ...inPng,
      trim: { ...trim, equalHorizontal: true, equalVertical: true },
    });
    const other = await make(folder, framed, { ...inPng, trim: { ...trim, color: 'ff00ff' } });

    expect([made.width, made.height]).toEqual([400, 200]);
    expect(made.at(0, 0)).toEqual(red);
    expect([equal.width, equal.height]).toEqual([420, 204]);
    expect([other.width, other.height]).toEqual([440, 204]);
  });

  test('of a block have their average', async ({ folder }) => {
    const made = await make(folder, await png().toBuffer(), { ...inPng, pixelate: 400 });

    expect(made.at(0, 0)).toEqual(made.at(399, 199));
    expect(made.at(0, 0)).toEqual([128, 128, 128]);
  });

  test('are blurred before the padding is added', async ({ folder }) => {
    const made = await make(folder, await png().toBuffer(), {
      ...inPng,
      blur: 10,
      padding: { left: 20 },
      background: '000000',
    });

    expect(made.at(19, 50)).toEqual([0, 0, 0]);
    expect(made.at(20, 50)).toEqual(red);
    expect(made.at(220, 50)).not.toEqual(green);
  });

  test('of the most interesting area are kept', async ({ folder }) => {
    const dot =
      '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" height="200" fill="#888"/><circle cx="350" cy="100" r="20" fill="#f00"/></svg>';
    const made = await make(folder, await sharp(Buffer.from(dot)).png().toBuffer(), {
      ...inPng,
      resize: { type: 'fill', width: 100, height: 200 },
      gravity: { type: 'sm', x: 0, y: 0 },
    });

    expect([made.width, made.height]).toEqual([100, 200]);
    expect(made.at(50, 100)[0]).toBeGreaterThan(200);
  });
});

describe('Watermarks', () => {
  const mark = () =>
    sharp({ create: { width: 40, height: 20, channels: 4, background: '#000000' } })
      .png()
      .toBuffer();
  const watermark = { opacity: 1, position: 'ce' as const, x: 0, y: 0, scale: 0 };

  test('keep their size, and their opacity is multiplied', async ({ folder }) => {
    const source = await png().toBuffer();
    const made = await make(
      folder,
      source,
      { ...inPng, watermark: { ...watermark, position: 'nowe', opacity: 0.5 } },
      '',
      await mark(),
    );

    expect(Math.abs((made.at(39, 19)[0] ?? 0) - 127)).toBeLessThanOrEqual(2);
    expect(made.at(39, 19).slice(1)).toEqual([0, 0]);
    expect(made.at(40, 19)).toEqual(red);
  });

  test('may hang over the edge', async ({ folder }) => {
    const made = await make(
      folder,
      await png().toBuffer(),
      { ...inPng, watermark: { ...watermark, position: 'soea', x: -30, y: 10 } },
      '',
      await mark(),
    );

    expect(made.at(395, 185)).toEqual([0, 0, 0]);
    expect(made.at(385, 185)).toEqual(white);
  });

  test('are scaled relative to the result', async ({ folder }) => {
    const made = await make(
      folder,
      await png().toBuffer(),
      { ...inPng, watermark: { ...watermark, scale: 0.5 } },
      '',
      await mark(),
    );

    expect(made.at(102, 52)).toEqual([0, 0, 0]);
    expect(made.at(98, 52)).toEqual(red);
  });

  test('are repeated with gaps from the center', async ({ folder }) => {
    const made = await make(
      folder,
      await png().toBuffer(),
      { ...inPng, watermark: { ...watermark, position: 're', x: 40, y: 20 } },
      '',
      await mark(),
    );

    expect(made.at(200, 100)).toEqual([0, 0, 0]);
    expect(made.at(280, 140)).toEqual([0, 0, 0]);
    expect(made.at(245, 95)).toEqual(green);
  });
});

describe('Formats', () => {
  test.for<[string, Changes, string, string]>([
    ['the URL', { format: 'webp' }, 'image/avif', 'webp'],
    ['the Accept header', {}, 'image/avif,image/webp', 'avif'],
    ['the source', {}, '*/*', 'png'],
    ['what AVIF can hold', { resize: { width: 10 } }, 'image/avif', 'jpg'],
  ])('come from %s', async ([_name, changes, accept, format], { folder }) => {
    const made = await make(folder, await png().toBuffer(), changes, accept);

    expect(made.format).toBe(format);
  });

  test.for(['jpg', 'png', 'webp', 'avif', 'gif', 'tiff', 'ico'] as const)(
    '%s is written',
    async (format, { folder }) => {
      const made = await make(folder, await png().toBuffer(), { format, resize: { width: 100 } });

      expect([made.format, made.width, made.height]).toEqual([format, 100, 50]);
    },
  );

  test('have a size limit, which icons keep by scaling down', async ({ folder }) => {
    const made = await make(folder, await png().toBuffer(), { format: 'ico' });

    expect([made.width, made.height]).toEqual([256, 128]);
  });

  test('that cannot be written are refused', async ({ folder }) => {
    const source = await png().toBuffer();

    expect(await refusal(make(folder, source, { format: 'heic' }))).toMatch(/format other than heic/);
    expect(await refusal(make(folder, source, { format: 'svg' }))).toMatch(/Expected an SVG source/);
  });

  test('get a lower quality until the file is small enough', async ({ folder }) => {
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 40 };
    const source = await sharp({ create: { width: 300, height: 300, channels: 3, background: 'black', noise } })
      .png()
      .toBuffer();
    const free = await make(folder, source, { format: 'jpg' });
    const limited = await make(folder, source, { format: 'jpg', maxBytes: 12_000 });

    expect(free.bytes.length).toBeGreaterThan(12_000);
    expect(limited.bytes.length).toBeLessThanOrEqual(12_000);
  });

  test('keep more than 8 bits only if asked', async ({ folder }) => {
    const deep = await png().toColourspace('rgb16').toBuffer();
    const usual = await make(folder, deep, inPng);
    const kept = await make(folder, deep, { ...inPng, preserveHdr: true, resize: { width: 50 } });

    expect((await sharp(usual.bytes).metadata()).depth).toBe('uchar');
    expect((await sharp(kept.bytes).metadata()).depth).toBe('ushort');
  });
});

describe('Metadata', () => {
  const photo = () =>
    png()
      .jpeg()
      .withExif({ IFD0: { Copyright: 'Example Ltd', Artist: 'Someone', Make: 'Camera', Orientation: '6' } })
      .withXmp(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="Tool"><dc:rights>Mine</dc:rights><dc:title>Home</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>',
      )
      .toBuffer();

  test('is reduced to the copyright', async ({ folder }) => {
    const { bytes } = await make(folder, await photo(), { format: 'jpg', resize: { width: 100 } });
    const { exif, xmp, orientation } = await sharp(bytes).metadata();

    expect(exif?.toString('latin1')).toContain('Example Ltd');
    expect(exif?.toString('latin1')).toContain('Someone');
    expect(exif?.toString('latin1')).not.toContain('Camera');
    expect(xmp?.toString()).toContain('<dc:rights>Mine</dc:rights>');
    expect(xmp?.toString()).not.toMatch(/Home|Tool/);
    expect(orientation ?? 1).toBe(1);
  });

  test('is removed if asked', async ({ folder }) => {
    const { bytes } = await make(folder, await photo(), { format: 'jpg', keepCopyright: false });
    const { exif, xmp } = await sharp(bytes).metadata();

    expect([exif, xmp]).toEqual([undefined, undefined]);
  });

  test('is kept if asked, except an orientation that has been applied', async ({ folder }) => {
    const { bytes, width } = await make(folder, await photo(), {
      format: 'jpg',
      stripMetadata: false,
      resize: { width: 100 },
    });
    const { exif, orientation } = await sharp(bytes).metadata();

    expect(exif?.toString('latin1')).toContain('Camera');
    expect([width, orientation ?? 1]).toEqual([100, 1]);
  });

  test('includes the colour profile, which is converted or kept', async ({ folder }) => {
    const wide = await sharp({ create: { width: 20, height: 20, channels: 3, background: '#00c000' } })
      .withIccProfile('p3')
      .png()
      .toBuffer();
    const [value] = await sharp(wide, { ignoreIcc: true }).raw().toBuffer();
    const converted = await make(folder, wide, inPng);
    const kept = await make(folder, wide, {
      ...inPng,
      stripColorProfile: false,
      resize: { width: 10 },
      rotate: 90,
      blur: 1,
      padding: { left: 1 },
    });

    expect((await sharp(converted.bytes).metadata()).hasProfile).toBe(false);
    expect(converted.at(5, 5)[0]).toBeLessThan(4);
    expect((await sharp(kept.bytes).metadata()).hasProfile).toBe(true);
    const stored = await sharp(kept.bytes, { ignoreIcc: true }).raw().toBuffer({ resolveWithObject: true });
    expect(stored.data[stored.info.channels * 15 + 0]).toBe(value);
  });
});

describe('Animations', () => {
  const animation = async (format: 'gif' | 'webp') => {
    const frames = await Promise.all(
      ['#ff0000', '#00ff00', '#0000ff'].map((background) =>
        sharp({ create: { width: 60, height: 40, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    return sharp(frames, { join: { animated: true } })
      .toFormat(format, { delay: [100, 200, 300], loop: 2 })
      .toBuffer();
  };

  test('keep their frames, durations and loops', async ({ folder }) => {
    const limits = { maxAnimationFrames: 10 };
    const { bytes } = await make(folder, await animation('gif'), {
      limits,
      rotate: 90,
      resize: { width: 20 },
      format: 'webp',
    });
    const { pages, delay, loop, width, pageHeight } = await sharp(bytes, { pages: -1 }).metadata();

    expect({ pages, delay, loop, width, pageHeight }).toEqual({
      pages: 3,
      delay: [100, 200, 300],
      loop: 2,
      width: 20,
      pageHeight: 30,
    });
    expect((await sharp(bytes, { page: 2 }).raw().toBuffer())[2]).toBeGreaterThan(240);
  });

  test('lose the frames beyond the limit', async ({ folder }) => {
    const { bytes } = await make(folder, await animation('webp'), { limits: { maxAnimationFrames: 2 }, format: 'gif' });

    expect((await sharp(bytes, { pages: -1 }).metadata()).pages).toBe(2);
  });

  test.for<[string, Changes]>([
    ['unless the limit is above 1', { format: 'gif' }],
    ['in formats without animation', { format: 'png', limits: { maxAnimationFrames: 10 } }],
  ])('become their first frame %s', async ([_name, changes], { folder }) => {
    const made = await make(folder, await animation('gif'), changes);

    expect([made.width, made.height]).toEqual([60, 40]);
    expect(made.at(5, 5).slice(0, 3)).toEqual(red);
  });

  test('have a limit of pixels in all frames, or in each', async ({ folder }) => {
    const source = await animation('gif');
    const limits = { maxAnimationFrames: 10, maxSrcResolution: 7_000 };

    expect(await refusal(make(folder, source, { limits }))).toMatch(/7200 pixels; the maximum for this URL is 7000/);
    await make(folder, source, { limits: { ...limits, maxAnimationFrameResolution: 2_400 } });
    expect(await refusal(make(folder, source, { limits: { ...limits, maxAnimationFrameResolution: 2_399 } }))).toMatch(
      /per frame/,
    );
  });
});

describe('Sources that are returned unchanged', () => {
  test('are those of formats to skip, and raw ones', async ({ folder }) => {
    const source = await png().toBuffer();

    expect((await make(folder, source, { skipProcessing: ['png'], resize: { width: 10 } })).bytes.equals(source)).toBe(
      true,
    );
    expect((await make(folder, source, { raw: true, format: 'webp' })).bytes.equals(source)).toBe(true);
    expect((await make(folder, source, { skipProcessing: ['png'], format: 'webp' })).format).toBe('webp');
  });

  test('still have to be images', async ({ folder }) => {
    expect(await refusal(make(folder, 'just some text', { raw: true }))).toMatch(/in one of the formats jpg, png/);
  });

  test('still have a limit of pixels', async ({ folder }) => {
    const limits = { maxSrcResolution: 100 };

    expect(await refusal(make(folder, await png().toBuffer(), { skipProcessing: ['png'], limits }))).toMatch(
      /maximum for this URL is 100/,
    );
  });

  test('include drawings, without what they could run', async ({ folder }) => {
    const svg = `<?xml version="1.0"?><?xml-stylesheet href="evil.xsl"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="10" onload="alert(1)">
      <script>alert(2)</script><g><a href="java&#115;cript:alert(3)"><rect width="10" height="10" fill="#123456"/></a></g>
      <use xlink:href="https://example.com/x.svg#a"/><set attributeName="href" to="javascript:alert(4)"/><svg:script xmlns:svg="http://www.w3.org/2000/svg"><g/></svg:script></svg>`;
    const { bytes } = await make(folder, svg);

    expect(bytes.toString()).not.toMatch(/script|alert|example\.com|stylesheet|DOCTYPE/);
    expect(bytes.toString()).toContain('<rect width="10" height="10" fill="#123456"/>');
  });

  test('do not include drawings that browsers could read in another way', async ({ folder }) => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><g title=x onclick="alert(1)"></g></svg>';

    expect(await refusal(make(folder, svg))).toMatch(/could not be read|not well-formed/);
  });
});

describe('Drawings', () => {
  test('are rendered at the size of the result', async ({ folder }) => {
    const made = await make(folder, quarters, { format: 'png', resize: { width: 1200 } });

    expect([made.width, made.height]).toEqual([1200, 600]);
    expect(made.at(598, 298)).toEqual([255, 0, 0, 255]);
    expect(made.at(602, 298)).toEqual([0, 255, 0, 255]);
  });
});

describe('Hostile sources', () => {
  test('with too many pixels are refused before they are decoded', async ({ folder }) => {
    const huge = await sharp({ create: { width: 9000, height: 9000, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();

    expect(await refusal(make(folder, huge))).toMatch(/81000000 pixels; the maximum for this URL is 50000000/);
  });

  test('with a header of a billion pixels are refused', async ({ folder }) => {
    const bomb = await png().toBuffer();
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);

    expect(await refusal(make(folder, bomb))).toMatch(/could not be read|more than 100 million pixels/);
  });

  test('that are truncated are refused', async ({ folder }) => {
    const whole = await png().jpeg().toBuffer();

    expect(await refusal(make(folder, whole.subarray(0, whole.length / 2)))).toMatch(/damaged, incomplete/);
  });

  test('that would become huge are refused', async ({ folder }) => {
    const resize = { type: 'force' as const, width: 16_000, height: 16_000, enlarge: true };

    expect(await refusal(make(folder, await png().toBuffer(), { resize }))).toMatch(
      /16000 × 16000 pixels; the maximum is 100 million/,
    );
  });

  test('are read by their content, whatever they are called', async ({ folder }) => {
    const path = join(folder, 'picture.png');
    await writeFile(path, await png().gif().toBuffer());
    const { format } = await runDerivation([path], { spec: picture(), accept: '' }, folder);

    expect(format).toBe('gif');
  });

  test('larger than the URL allows are refused', async ({ folder }) => {
    expect(await refusal(make(folder, await png().toBuffer(), { limits: { maxSrcFileSize: 100 } }))).toMatch(
      /bytes; the maximum for this URL is 100/,
    );
  });
});
