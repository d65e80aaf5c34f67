import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { crc32, deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, describe, expect } from 'vitest';
import { catalogue } from '../../../functions/engines/image/catalogue.ts';
import { imageFormats } from '../../../functions/engines/image/formats.ts';
import { EngineError, type Work } from '../../../functions/engines/runtime/engine.ts';
import { Sandbox } from '../../../functions/engines/runtime/sandbox/sandbox.ts';
import { maxProcessorSeconds } from '../../../shared/tasks/limits.ts';
import { onlyInBreadth } from '../../support/breadth.ts';
import { measureProcesses, processorSeconds } from '../../support/processor-time.ts';
import { runSandboxed } from '../../support/sandboxed.ts';
import { endlessPages, hugePage, nestedForms, twiceDeflatedPicture } from '../document/heavy-files.ts';
import { test } from './folder-test.ts';
import { inFolder, runEngine, runForPath } from './run-engine.ts';
import { makeSample } from './samples.ts';
import { tiffFile } from './writers/tiff.ts';

/** What a refusal of a bomb may cost; decoding one would take minutes or gigabytes. */
const refusalSeconds = 5;
const refusalBytes = 700 * 1024 * 1024;

async function refuse(file: Buffer, format: string, options: Record<string, unknown> = {}): Promise<EngineError> {
  return inFolder(async (folder) => {
    const path = join(folder, `bomb.${format}`);
    await writeFile(path, file);
    const before = process.memoryUsage().rss;
    const start = processorSeconds();
    const failure: unknown = await runEngine({
      inputs: [path],
      formats: [format],
      outputFormat: 'png',
      options,
      folder,
    }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EngineError);
    expect(processorSeconds() - start).toBeLessThan(refusalSeconds);
    expect(process.memoryUsage().rss - before).toBeLessThan(refusalBytes);
    if (!(failure instanceof EngineError)) throw failure;
    expect(failure.message).not.toBe('');
    return failure;
  });
}

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length, 0);
  head.write(type, 4, 'latin1');
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(data, crc32(head.subarray(4))));
  return Buffer.concat([head, data, check]);
}

const pngMark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function pngHeader(width: number, height: number, depth = 1): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = depth;
  return chunk('IHDR', header);
}

function big(write: (bytes: Buffer) => void, size = 64): Buffer {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
}

describe('Pixel bombs', () => {
  test('A small PNG of 900 million pixels is refused before it is decoded.', async () => {
    const line = Buffer.alloc(30_000 / 8 + 1);
    const pixels = deflateSync(Buffer.concat(Array.from({ length: 30_000 }, () => line)));
    const bomb = Buffer.concat([
      pngMark,
      pngHeader(30_000, 30_000),
      chunk('IDAT', pixels),
      chunk('IEND', Buffer.alloc(0)),
    ]);
    expect(bomb.length).toBeLessThan(200_000);
    const { message } = await refuse(bomb, 'png');
    expect(message).toMatch(/more than 100 million pixels/);
  });

  const headers: Record<string, Buffer> = {
    pnm: Buffer.from('P6 60000 60000 255\n'),
    ppm: Buffer.from('P3\n65000 65000\n255\n0 0 0'),
    pam: Buffer.from('P7\nWIDTH 60000\nHEIGHT 60000\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'),
    pfm: Buffer.from('PF\n60000 60000\n-1.0\n'),
    hdr: Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 90000 +X 90000\n'),
    ff: Buffer.concat([Buffer.from('farbfeld'), Buffer.from([0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff])]),
    qoi: Buffer.concat([Buffer.from('qoif'), Buffer.from([0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 4, 0])]),
    tga: big((bytes) => {
      bytes[2] = 10;
      bytes.writeUInt16LE(65_000, 12);
      bytes.writeUInt16LE(65_000, 14);
      bytes[16] = 32;
    }),
    bmp: big((bytes) => {
      bytes.write('BM');
      bytes.writeUInt32LE(54, 10);
      bytes.writeUInt32LE(40, 14);
      bytes.writeInt32LE(65_000, 18);
      bytes.writeInt32LE(65_000, 22);
      bytes.writeUInt16LE(1, 26);
      bytes.writeUInt16LE(24, 28);
    }),
    psd: big((bytes) => {
      bytes.write('8BPS\0\x01', 'latin1');
      bytes.writeUInt16BE(4, 12);
      bytes.writeUInt32BE(30_000, 14);
      bytes.writeUInt32BE(30_000, 18);
      bytes.writeUInt16BE(8, 22);
      bytes.writeUInt16BE(3, 24);
    }),
    sgi: big((bytes) => {
      bytes.writeUInt16BE(474, 0);
      bytes[2] = 1;
      bytes[3] = 1;
      bytes.writeUInt16BE(3, 4);
      bytes.writeUInt16BE(65_000, 6);
      bytes.writeUInt16BE(65_000, 8);
      bytes.writeUInt16BE(4, 10);
      bytes.writeUInt32BE(255, 16);
    }, 512),
    ras: big((bytes) => {
      bytes.writeUInt32BE(0x59a66a95, 0);
      bytes.writeUInt32BE(60_000, 4);
      bytes.writeUInt32BE(60_000, 8);
      bytes.writeUInt32BE(32, 12);
      bytes.writeUInt32BE(2, 20);
    }),
    dds: big((bytes) => {
      bytes.write('DDS ');
      bytes.writeUInt32LE(124, 4);
      bytes.writeUInt32LE(0x1007, 8);
      bytes.writeUInt32LE(60_000, 12);
      bytes.writeUInt32LE(60_000, 16);
      bytes.writeUInt32LE(32, 76);
      bytes.writeUInt32LE(4, 80);
      bytes.write('DXT1', 84);
      bytes.writeUInt32LE(0x1000, 108);
    }, 128),
    blp: big((bytes) => {
      bytes.write('BLP2');
      bytes.writeUInt32LE(1, 4);
      bytes.writeUInt8(3, 8);
      bytes.writeUInt32LE(60_000, 12);
      bytes.writeUInt32LE(60_000, 16);
    }, 1200),
    fli: big((bytes) => {
      bytes.writeUInt16LE(0xaf12, 4);
      bytes.writeUInt16LE(1, 6);
      bytes.writeUInt16LE(65_000, 8);
      bytes.writeUInt16LE(65_000, 10);
      bytes.writeUInt16LE(8, 12);
    }, 256),
    icns: Buffer.concat([
      Buffer.from('icns\0\0\0\x46ic08\0\0\0\x3e', 'latin1'),
      pngMark,
      pngHeader(65_000, 65_000),
      chunk('IDAT', Buffer.alloc(8)),
    ]),
    im: Buffer.from('Image type: RGB image\r\nImage size (x*y): 60000*60000\r\n\x1a'),
    msp: big((bytes) => {
      bytes.write('DanM');
      bytes.writeUInt32LE(0xfde8fde8, 4);
      bytes.writeUInt16LE(bytes.readUInt16LE(0) ^ bytes.readUInt16LE(2), 24);
    }),
    gif: Buffer.concat([
      Buffer.from('GIF89a'),
      Buffer.from([0xff, 0xff, 0xff, 0xff, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]),
      Buffer.from([0x2c, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 2, 2, 0x4c, 1, 0, 0x3b]),
    ]),
    xpm: Buffer.from('/* XPM */\nstatic char *x[] = {\n"60000 60000 1 1",\n"a c #000000",\n"a"};\n'),
    wbmp: Buffer.from([0, 0, 0x83, 0xff, 0x7f, 0x83, 0xff, 0x7f, 0, 0]),
    svg: Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="60000" height="60000"><rect width="9" height="9"/></svg>',
    ),
  };

  test.for(Object.keys(headers))(
    'A %s that claims billions of pixels is refused.',
    { timeout: 30_000 },
    async (format) => {
      await refuse(headers[format] ?? Buffer.alloc(0), format);
    },
  );

  test('A size asked for beyond the limit is refused, also when a drawing would be rendered in it.', async () => {
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="9" height="9"/></svg>',
    );
    const wide = { image_custom_width: 16_000, image_custom_height: 16_000 };
    const { message } = await refuse(svg, 'svg', wide);
    const png = await sharp({ create: { width: 10, height: 10, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const raster = await refuse(png, 'png', wide);
    expect(message).toMatch(/million pixels/);
    expect(raster.message).toMatch(/the maximum is \d+ million/);
  });
});

describe('Animation and page bombs', () => {
  test('A GIF of three thousand frames is refused.', async () => {
    const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0]);
    const bomb = Buffer.concat([
      Buffer.from('GIF89a'),
      Buffer.from([1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]),
      ...Array.from({ length: 3_000 }, () => frame),
      Buffer.from([0x3b]),
    ]);
    const { message } = await refuse(bomb, 'gif');
    expect(message).toMatch(/3000 frames or pages/);
  });

  test('An animated PNG whose frames together fill the memory is refused.', async () => {
    const [width, height, frames] = [6_000, 6_000, 50];
    const parts = [pngMark, pngHeader(width, height), chunk('acTL', Buffer.from([0, 0, 0, frames, 0, 0, 0, 0]))];
    const pixels = deflateSync(Buffer.alloc((width / 8 + 1) * height));
    for (let index = 0, sequence = 0; index < frames; index++) {
      const control = Buffer.alloc(26);
      control.writeUInt32BE(sequence++, 0);
      control.writeUInt32BE(width, 4);
      control.writeUInt32BE(height, 8);
      const number = Buffer.alloc(4);
      if (index > 0) number.writeUInt32BE(sequence++);
      parts.push(
        chunk('fcTL', control),
        index === 0 ? chunk('IDAT', pixels) : chunk('fdAT', Buffer.concat([number, pixels])),
      );
    }
    const { message } = await refuse(Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]), 'apng');
    expect(message).toMatch(/have more than \d+ million pixels in total/);
  });

  test('An Animator file that claims tens of thousands of frames is refused, for an output that takes one or all.', async () => {
    const bomb = Buffer.alloc(256);
    bomb.writeUInt16LE(0xaf12, 4);
    bomb.writeUInt16LE(60_000, 6);
    bomb.writeUInt16LE(320, 8);
    bomb.writeUInt16LE(200, 10);
    bomb.writeUInt16LE(8, 12);
    const { message } = await refuse(bomb, 'fli', { page: 1 });
    expect(message).toMatch(/60000 frames or pages/);
    await refuse(bomb, 'fli');
  });

  test('A TIFF for ImageMagick whose pages together fill the memory is refused before it is decoded.', async () => {
    const page = tiffFile(Buffer.alloc(64), { 256: 9_000, 257: 9_000, 258: 12, 259: 1, 262: 1, 277: 1, 278: 9_000 });
    const directory = page.subarray(page.readUInt32LE(4));
    // Each directory is followed by the number of the next.
    const pages = Array.from({ length: 50 }, (_, index) => {
      const copy = Buffer.from(directory);
      copy.writeUInt32LE(index === 49 ? 0 : page.length + index * copy.length, copy.length - 4);
      return copy;
    });
    const [first = Buffer.alloc(0), ...others] = pages;
    const bomb = Buffer.concat([page.subarray(0, page.length - first.length), first, ...others]);
    const { message } = await refuse(bomb, 'tiff', { page: 1 });
    expect(message).toMatch(/have more than 150 million pixels in total/);
  });

  test('A TIFF whose directories point at each other ends.', async () => {
    const bytes = Buffer.alloc(8 + 2 + 12 + 4);
    bytes.write('II*\0', 'latin1');
    bytes.writeUInt32LE(8, 4);
    bytes.writeUInt16LE(1, 8);
    bytes.writeUInt16LE(256, 10);
    bytes.writeUInt16LE(3, 12);
    bytes.writeUInt32LE(1, 14);
    bytes.writeUInt16LE(1, 18);
    bytes.writeUInt32LE(8, 22);
    await refuse(bytes, 'tiff');
  });
});

describe('Metadata bombs', () => {
  test('A colour profile that unpacks to hundreds of megabytes costs no memory.', async ({ folder }) => {
    const profile = deflateSync(Buffer.alloc(300 * 1024 * 1024));
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#808080' } })
      .png()
      .toBuffer();
    const iccp = chunk('iCCP', Buffer.concat([Buffer.from('x\0\0', 'latin1'), profile]));
    const bomb = Buffer.concat([png.subarray(0, 33), iccp, png.subarray(33)]);
    const path = join(folder, 'bomb.png');
    await writeFile(path, bomb);
    const before = process.memoryUsage().rss;
    const outcome: unknown = await runForPath({ inputs: [path], outputFormat: 'jpg', folder }).catch(
      (error: unknown) => error,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(refusalBytes);
    expect(typeof outcome === 'string' || outcome instanceof EngineError).toBe(true);
  });

  test('A JPEG with a megabyte of EXIF that is nonsense converts, and keeps none of it.', async ({ folder }) => {
    const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#808080' } })
      .jpeg()
      .toBuffer();
    const segment = Buffer.concat([
      Buffer.from([0xff, 0xe1, 0xff, 0xff]),
      Buffer.from('Exif\0\0II*\0'),
      Buffer.alloc(65_533 - 10, 0xee),
    ]);
    const bomb = Buffer.concat([jpeg.subarray(0, 2), ...Array.from({ length: 16 }, () => segment), jpeg.subarray(2)]);
    const path = join(folder, 'bomb.jpg');
    await writeFile(path, bomb);
    const output = await runForPath({ inputs: [path], outputFormat: 'jpg', folder });
    expect((await readFile(output)).length).toBeLessThan(5_000);
  });
});

describe('Damaged files', () => {
  // One of the PostScript kinds stands for all: they have one reader.
  const readable = imageFormats
    .filter(({ read, ext }) => read && !['epsi', 'ept', 'ps'].includes(ext))
    .map(({ ext }) => ext);

  /** The same numbers in every run. */
  function* numbers(seed: number): Generator<number> {
    for (let state = seed; ; ) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      yield state;
    }
  }

  async function survives(path: string, format: string, folder: string): Promise<void> {
    const outcome: unknown = await runEngine({ inputs: [path], formats: [format], outputFormat: 'png', folder }).catch(
      (error: unknown) => error,
    );
    if (outcome instanceof EngineError) return;
    // Decoders throw other things than errors too.
    if (typeof outcome !== 'object' || outcome === null || !('outputs' in outcome)) throw outcome;
  }

  test.for(readable)(
    'Truncated and bit-flipped %s files either convert or are refused with a message.',
    { timeout: 60_000 },
    async (format, { folder }) => {
      const sample = await readFile(await makeSample(format, folder));
      const path = join(folder, `damaged.${format}`);
      const random = numbers(format.length + sample.length);
      const pick = (below: number) => random.next().value % below;
      for (const share of [0.02, 0.5, 0.95]) {
        await writeFile(path, sample.subarray(0, Math.floor(sample.length * share)));
        await survives(path, format, folder);
      }
      for (let round = 0; round < 4; round++) {
        const flipped = Buffer.from(sample);
        for (let flip = 0; flip < 6; flip++) {
          const at = pick(round < 2 ? Math.min(256, flipped.length) : flipped.length);
          flipped[at] = (flipped[at] ?? 0) ^ (1 << pick(8));
        }
        await writeFile(path, flipped);
        await survives(path, format, folder);
      }
      await writeFile(path, sample);
      await expect(runForPath({ inputs: [path], formats: [format], outputFormat: 'png', folder })).resolves.toMatch(
        /png$/,
      );
    },
  );
});

describe('Hostile drawings', () => {
  const namespaces =
    'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xi="http://www.w3.org/2001/XInclude"';

  /** Every element that can hold a reference, pointing at an image that is red. */
  function references(address: string): string[] {
    return [
      `<image href="${address}" width="40" height="40"/>`,
      `<image xlink:href="${address}" width="40" height="40"/>`,
      `<use href="${address}#a"/><use xlink:href="${address}"/>`,
      `<filter id="f" x="0" y="0" width="1" height="1"><feImage href="${address}"/></filter><rect width="40" height="40" fill="none" filter="url(#f)"/>`,
      `<defs><pattern id="p" width="40" height="40" patternUnits="userSpaceOnUse"><image href="${address}" width="40" height="40"/></pattern></defs><rect width="40" height="40" fill="url(#p)"/>`,
      `<rect width="40" height="40" fill="url(${address}#p)"/>`,
      `<style>@import url("${address}"); @font-face { font-family: x; src: url("${address}"); } rect { fill: url("${address}"); }</style><text font-family="x" y="20">t</text>`,
      `<xi:include href="${address}" parse="xml"/><xi:include href="${address}" parse="text"/>`,
      `<text y="20"><tref xlink:href="${address}#t"/></text>`,
      `<mask id="m"><image href="${address}" width="40" height="40"/></mask><rect width="40" height="40" fill="none" mask="url(#m)"/>`,
      `<foreignObject width="40" height="40"><img xmlns="http://www.w3.org/1999/xhtml" src="${address}"/><iframe xmlns="http://www.w3.org/1999/xhtml" src="${address}"/></foreignObject>`,
      `<script href="${address}"/><script>while(true){}</script>`,
      `<a xlink:href="${address}"><animate attributeName="x" href="${address}"/></a><cursor xlink:href="${address}"/>`,
    ];
  }

  async function redPixels(path: string): Promise<number> {
    const { data, info } = await sharp(path)
      .flatten({ background: '#ffffff' })
      .raw()
      .toBuffer({ resolveWithObject: true });
    let found = 0;
    for (let at = 0; at < data.length; at += info.channels) {
      if ((data[at] ?? 0) > 200 && (data[at + 1] ?? 255) < 60) found += 1;
    }
    return found;
  }

  test('No reference of any element reads a file, near or far, in pixels or in PDF.', {
    timeout: 120_000,
  }, async ({ folder }) => {
    const red = join(folder, 'red.png');
    await writeFile(
      red,
      await sharp({ create: { width: 40, height: 40, channels: 3, background: '#ff0000' } })
        .png()
        .toBuffer(),
    );
    const addresses = [`file://${red}`, red, 'red.png', '../red.png', '../../red.png'];
    for (const address of addresses) {
      const path = join(folder, 'drawing.svg');
      const body = references(address).join('\n');
      await writeFile(
        path,
        `<?xml version="1.0"?><?xml-stylesheet href="${address}"?><svg ${namespaces} width="40" height="40">${body}</svg>`,
      );
      const png: unknown = await runForPath({ inputs: [path], outputFormat: 'png', folder }).catch(
        (error: unknown) => error,
      );
      const pdf: unknown = await runForPath({ inputs: [path], outputFormat: 'pdf', folder }).catch(
        (error: unknown) => error,
      );
      if (typeof png === 'string') expect(await redPixels(png)).toBe(0);
      else expect(png).toBeInstanceOf(EngineError);
      if (typeof pdf === 'string') expect((await readFile(pdf)).includes('/Subtype /Image')).toBe(false);
      else expect(pdf).toBeInstanceOf(EngineError);
    }
  });

  test('No reference opens a connection.', { timeout: 60_000 }, async ({ folder }) => {
    let connections = 0;
    const server = createServer((_, response) => response.end()).on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    try {
      const path = join(folder, 'drawing.svg');
      const body = references(`http://127.0.0.1:${port}/x.png`).join('\n');
      const doctype = `<!DOCTYPE svg SYSTEM "http://127.0.0.1:${port}/x.dtd">`;
      for (const start of ['', doctype]) {
        await writeFile(path, `<?xml version="1.0"?>${start}<svg ${namespaces} width="40" height="40">${body}</svg>`);
        for (const outputFormat of ['png', 'pdf']) {
          await runForPath({ inputs: [path], outputFormat, folder }).catch((error: unknown) =>
            expect(error).toBeInstanceOf(EngineError),
          );
        }
      }
      expect(connections).toBe(0);
    } finally {
      server.close();
    }
  });

  const bombs: Record<string, string> = {
    'entities that multiply': `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">${'bcdefghij'
      .split('')
      .map((name, index) => `<!ENTITY ${name} "${`&${'abcdefghij'[index]};`.repeat(10)}">`)
      .join('')}]><svg ${namespaces} width="40" height="40"><text>&j;</text></svg>`,
    'an entity of a file': `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg ${namespaces} width="40" height="40"><text y="20">&x;</text></svg>`,
    'a parameter entity': `<!DOCTYPE svg [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><svg ${namespaces} width="40" height="40"/>`,
  };

  test.for(Object.keys(bombs))('A drawing with %s is refused with a message.', async (kind) => {
    const { message } = await refuse(Buffer.from(bombs[kind] ?? ''), 'svg');
    expect(message).toMatch(/entities/);
  });

  test('Elements that use each other by the billion end soon.', { timeout: 90_000 }, async ({ folder }) => {
    const levels = Array.from({ length: 30 }, (_, level) =>
      level === 0
        ? '<g id="l0"><rect width="1" height="1"/></g>'
        : `<g id="l${level}">${`<use href="#l${level - 1}"/>`.repeat(10)}</g>`,
    );
    const path = join(folder, 'bomb.svg');
    await writeFile(
      path,
      `<svg ${namespaces} width="40" height="40"><defs>${levels.join('')}</defs><use href="#l29"/></svg>`,
    );
    const start = processorSeconds();
    const outcome: unknown = await runForPath({ inputs: [path], outputFormat: 'png', folder }).catch(
      (error: unknown) => error,
    );
    expect(typeof outcome === 'string' || outcome instanceof EngineError).toBe(true);
    expect(processorSeconds() - start).toBeLessThan(60);
  });

  test('A compressed drawing that unpacks without end is refused.', async () => {
    const { message } = await refuse(gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20)), 'svgz');
    expect(message).toMatch(/larger than 32 MB/);
  });
});

describe('Hostile PostScript', () => {
  // Regression: safer mode lets a file write and delete in the temporary folder, which contains files of other tasks.
  test.for([
    ['reads a file', (bait: string) => `(${bait}) (r) file 100 string readstring pop show`],
    ['runs a program', () => '(%pipe%id) (r) file 100 string readstring pop show'],
    ['writes a file', (bait: string) => `(${bait}) (w) file (changed) writestring`],
    ['deletes a file', (bait: string) => `(${bait}) deletefile`],
    ['renames a file', (bait: string) => `(${bait}) (${bait}.gone) renamefile`],
  ] as const)('PostScript that %s finds nothing to harm.', { timeout: 30_000 }, async ([, code], { folder }) => {
    const bait = join(folder, 'bait.txt');
    const start =
      '%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n/Helvetica findfont 10 scalefont setfont 5 50 moveto';
    await writeFile(bait, 'untouched');
    const { detail } = await refuse(Buffer.from(`${start}\n${code(bait)}\nshowpage\n`), 'eps');
    expect(detail).toMatch(/invalidfileaccess|undefinedfilename|Error/);
    expect(await readFile(bait, 'utf8')).toBe('untouched');
  });

  // Regression: the search went through the whole file system, /proc included, for 120 seconds.
  test.for([
    ['lists files', '(/etc/passw*) { show } 100 string filenameforall'],
    ['walks all directories', '(/*) { pop } 1000 string filenameforall'],
    ['looks the operator up elsewhere', '(/*) { pop } 1000 string systemdict /filenameforall get exec'],
    ['names the device', '(%os%/*) { pop } 1000 string filenameforall'],
  ] as const)('PostScript that %s is refused at once, with the reason.', { timeout: 30_000 }, async ([, code]) => {
    const start =
      '%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n/Helvetica findfont 10 scalefont setfont 5 50 moveto';
    const { message } = await refuse(Buffer.from(`${start}\n${code}\nshowpage\n`), 'eps');
    expect(message).toMatch(/reads, writes or lists files, which is not allowed/);
  });

  test('PostScript cannot put the operator back.', { timeout: 30_000 }, async () => {
    const code = 'systemdict /filenameforall { pop pop pop } put';
    const { detail } = await refuse(Buffer.from(`%!PS-Adobe-3.0\n${code}\nshowpage\n`), 'ps');
    expect(detail).toMatch(/invalidaccess/);
  });
});

describe('Drawings that never end', { timeout: 120_000 }, () => {
  const sandbox = new Sandbox({
    module: new URL('../../../functions/engines/image/run.ts', import.meta.url),
    memoryBytes: 3 * 1024 ** 3,
    network: false,
  });
  afterAll(() => sandbox.stop());

  /** Runs the engine behind its sandbox, and expects a refusal within a time that leaves the engine to others. */
  async function expectRefusal(file: Buffer | string, format: string, outputFormat: string, message: RegExp) {
    await inFolder(async (folder) => {
      const path = join(folder, `drawing.${format}`);
      await writeFile(path, file);
      const input = { path, name: 'drawing', format, size: file.length };
      const operation: Work['operation'] = format === 'pdf' ? 'merge' : 'convert';
      await sandbox.barriers();
      let outcome: unknown;
      const seconds = await measureProcesses(async () => {
        const ceiling = maxProcessorSeconds(catalogue.resources, [input]) ?? 0;
        const work: Omit<Work, 'folder'> = {
          operation,
          inputs: [input],
          outputFormat,
          options: {},
          maxProcessorSeconds: ceiling,
        };
        outcome = await runSandboxed(sandbox, work).catch((error: unknown) => error);
      });
      expect(outcome).toBeInstanceOf(EngineError);
      expect(outcome).toHaveProperty('message', expect.stringMatching(message));
      expect(seconds).toBeLessThan(12);
    });
  }

  const tooLong = /^The file takes more processor time than a file of its size and pages may: over \d+ seconds/;

  test('A drawing that makes pages for ever is refused within seconds.', () =>
    expectRefusal(endlessPages, 'eps', 'png', tooLong));

  test('A page of a billion points and a picture of 900 million pixels are refused at once when they are merged.', async () => {
    await expectRefusal(hugePage(), 'pdf', 'gif', /would have more than 100 million pixels/);
    await expectRefusal(twiceDeflatedPicture(), 'pdf', 'gif', /a picture of 30000 × 30000 pixels/);
  });

  test.for([
    [endlessPages, 'eps', 'pdf'],
    [endlessPages, 'eps', 'avif'],
    [endlessPages, 'ps', 'png'],
    ['%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n{ } loop\n', 'eps', 'jpg'],
    [nestedForms(), 'pdf', 'gif'],
  ] as const)('The same holds for other outputs and programs: %s', onlyInBreadth, ([file, format, outputFormat]) =>
    expectRefusal(file, format, outputFormat, tooLong),
  );
});
