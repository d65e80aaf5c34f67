import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { catalogue } from '../../../functions/engines/webpage/catalogue.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions, type OptionValues } from '../../../shared/catalogue/options.ts';
import { type PictureFacts, pictureFacts, pixelAt } from '../picture-facts.ts';
import { decode, expectColour, paint } from './matrix.ts';
import { convertFile, convertHtml, startSite, temporaryFolder } from './site.ts';

const head = '<!doctype html><meta charset="utf-8">';
const red = [255, 0, 0];
const green = [0, 128, 0];
const white = [255, 255, 255];

const pages = new Catalogue([catalogue]);

/** Converts HTML with checked and filled-in options, as the worker does, and returns the path of the output. */
async function convertChecked(html: string, format: string, given: Record<string, unknown>): Promise<string> {
  const { values, errors } = checkOptions(pages.find('convert', 'html', format)?.capability.options ?? [], given);
  expect(errors).toEqual({});
  return (await convertHtml(html, format, values)).path;
}

async function pageSizes(path: string): Promise<{ pages: number; size: string }> {
  const { stdout } = await runProgram('pdfinfo', [path], { cwd: join(path, '..') });
  const [, width, height] = /^Page size: +([\d.]+) x ([\d.]+)/m.exec(stdout) ?? [];
  return {
    pages: Number(/^Pages: +(\d+)/m.exec(stdout)?.[1]),
    size: `${Math.round(Number(width))}x${Math.round(Number(height))}`,
  };
}

describe('options of the webpage engine', () => {
  afterAll(closeBrowser);

  it('lays the page out for viewport_width and shows it whole, or viewport_height of it', async () => {
    const html = `${head}<style>body{margin:0;height:3000px;background:red}@media(max-width:700px){body{background:green}}</style>`;

    const whole = await decode((await convertHtml(html, 'png', { viewport_width: 600, viewport_height: 500 })).path);
    const part = await decode(
      (await convertHtml(html, 'png', { viewport_width: 800, viewport_height: 500, full_page: false })).path,
    );

    expect([whole.width, whole.height]).toEqual([600, 3000]);
    expectColour(whole.at(300, 2900), green, 'in a narrow window');
    expect([part.width, part.height]).toEqual([800, 500]);
    expectColour(part.at(400, 250), red, 'in a wide window');
  });

  it('joins the parts of a page that is taller than one surface', async () => {
    const html = `${head}<style>body{margin:0}div{height:9000px}</style><div style="background:red"></div><div style="background:green"></div><div style="background:red"></div>`;

    const { height, at } = await decode((await convertHtml(html, 'png', { viewport_width: 300 })).path);

    expect(height).toBe(27_000);
    for (const [y, colour] of [
      [10, red],
      [8999, red],
      [9001, green],
      [17_990, green],
      [18_010, red],
      [26_990, red],
    ] as const)
      expectColour(at(150, y), [...colour], `at ${y}`);
  });

  it.each([0.5, 2])('paints scale %d pixels for each pixel of the page', async (scale) => {
    const html = `${head}<body style="margin:0;height:1000px">`;

    const { width, height } = await decode((await convertHtml(html, 'png', { viewport_width: 400, scale })).path);

    expect([width, height]).toEqual([400 * scale, 1000 * scale]);
  });

  it.each(['jpg', 'webp'])('writes a smaller %s at a lower quality', async (format) => {
    const html = `${head}<body style="background:repeating-conic-gradient(red 0 7deg, #7af 7deg 15deg)">${'words '.repeat(3000)}`;

    const low = await convertHtml(html, format, { quality: 20 });
    const high = await convertHtml(html, format, { quality: 95 });

    expect((await stat(low.path)).size).toBeLessThan((await stat(high.path)).size / 1.5);
  });

  describe('of the picture', () => {
    const html = `${head}<body style="margin:0;height:600px"><div style="height:300px;background:linear-gradient(90deg,red,blue)"></div>${'words '.repeat(200)}`;
    const picture = (format: string, options: Record<string, unknown>) =>
      convertChecked(html, format, { viewport_width: 800, viewport_height: 600, ...options });

    it.each<[string, Record<string, unknown>, Partial<PictureFacts>]>([
      ['png', { png_compression_level: 'lossy', png_convert_quality: 60 }, { size: '800x600', type: 'Palette' }],
      ['png', { rotate: 90, image_custom_width: 300, image_dpi: 300 }, { size: '300x400', density: 300 }],
      ['jpg', { jpg_convert_compression_level: 10 }, { format: 'JPEG', quality: 10, size: '800x600' }],
      ['jpg', { image_custom_width: 90, image_custom_height: 60, fit: 'crop' }, { quality: 90, size: '90x60' }],
      ['jpg', { color_space: 'gray', progressive: true }, { type: 'Grayscale', interlace: 'JPEG' }],
    ])('write a %s with %j', async (format, options, facts) => {
      expect(await pictureFacts(await picture(format, options))).toMatchObject(facts);
    });

    it('keep every pixel of a lossless webp, mirrored by flip', async () => {
      const [plain, flipped] = await Promise.all([
        picture('png', {}),
        picture('webp', { lossless: true, flip: 'horizontal' }),
      ]);

      for (const x of [0, 123, 555]) expect(await pixelAt(flipped, 799 - x, 150)).toEqual(await pixelAt(plain, x, 150));
    });

    it('show the background in areas that the page leaves empty, also in the joined parts of a tall page', async () => {
      const tall = `${head}<body style="margin:0;height:17000px"><div style="height:9000px;width:100px;background:red"></div>`;
      const options = { viewport_width: 300, background: '#00ff00', image_resize_percentage: 50 };
      const path = await convertChecked(tall, 'webp', { ...options, lossless: true });

      expect((await pictureFacts(path)).size).toBe('150x8500');
      expect(await pixelAt(path, 25, 4000)).toEqual([255, 0, 0, 255]);
      expect(await pixelAt(path, 100, 4000)).toEqual([0, 255, 0, 255]);
      expect(await pixelAt(path, 25, 6000)).toEqual([0, 255, 0, 255]);
    });
  });

  it('waits initial_delay seconds for what comes later', async () => {
    const html = `${head}<body style="background:red"><script>setTimeout(() => document.body.style.background = 'green', 700)</script>`;

    const early = await decode((await convertHtml(html, 'png', {})).path);
    const late = await decode((await convertHtml(html, 'png', { initial_delay: 1.5 })).path);

    expectColour(early.at(50, 50), red, 'at once');
    expectColour(late.at(50, 50), green, 'after the delay');
  });

  it('draws text in fonts that are still loading when the page is, or that it asks for during initial_delay', async () => {
    const font = await readFile('/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf');
    const site = await startSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'font/ttf', 'access-control-allow-origin': '*' });
      setTimeout(() => response.end(font), 500);
    });
    process.env.LATHE_ALLOW_HOSTS = site.host;
    onTestFinished(() => {
      delete process.env.LATHE_ALLOW_HOSTS;
    });
    const face = `${head}<style>@font-face{font-family:Late;src:url(${site.url}late.ttf)}.late{font-family:Late}</style>`;
    const fontsOf = async (path: string) =>
      (await runProgram('pdffonts', [path], { cwd: join(path, '..') })).stdout.match(/\+(\S+)/)?.[1];

    const used = await convertHtml(`${face}<p class="late">Text</p>`, 'pdf');
    const added = await convertHtml(
      `${face}<p>Text</p><script>setTimeout(() => document.querySelector('p').className = 'late', 800)</script>`,
      'pdf',
      { initial_delay: 1 },
    );

    expect(await fontsOf(used.path)).toBe('DejaVuSansMono-Bold');
    expect(await fontsOf(added.path)).toBe('DejaVuSansMono-Bold');
  });

  it('hides cookie banners and the veil that locks the page, known and unknown, and nothing else', async () => {
    const banner = (attributes: string) =>
      `<div ${attributes} style="position:fixed;left:0;right:0;height:100px;background:red">We use cookies. <button>OK</button></div>`;
    const html = `${head}<body style="margin:0;background:green;overflow:hidden">
      <header style="position:sticky;top:0;height:50px;background:blue">Menu <a href="/cookies">About cookies</a></header>
      ${banner('id="onetrust-consent-sdk"').replace('left:0', 'bottom:0;left:0')}
      ${banner('class="x1y2"').replace('left:0', 'top:300px;left:0')}<main style="height:1500px">Text about cookies.</main>`;

    const hidden = await decode((await convertHtml(html, 'png', { hide_cookie: true })).path);
    const shown = await decode((await convertHtml(html, 'png', { hide_cookie: false, full_page: false })).path);

    expect(hidden.height).toBe(1550);
    for (const y of [350, 850]) {
      expectColour(hidden.at(900, y), green, `without the banner at ${y}`);
      expectColour(shown.at(900, y), red, `with the banner at ${y}`);
    }
    expectColour(hidden.at(900, 20), [0, 0, 255], 'in the header');
  });

  it.each(['pdf', 'png'])('uses the print style sheet for a %s when asked to', async (format) => {
    const html = `${head}<style>body{margin:0;height:500px;background:red}@media print{body{background:green}}</style>x`;
    const picture = async (use_print_stylesheet: boolean) => {
      const { path } = await convertHtml(html, format, { use_print_stylesheet, margin: 0 });
      return decode(format === 'pdf' ? await paint(path) : path);
    };

    expectColour((await picture(false)).at(200, 200), red, 'for the screen');
    expectColour((await picture(true)).at(200, 200), green, 'for print');
  });

  it.each([
    [{}, '288x432'],
    [{ page_size: 'Letter' }, '612x792'],
    [{ page_size: 'A5', page_orientation: 'landscape' }, '595x420'],
    [{ page_size: 'A3' }, '842x1191'],
    [{ page_orientation: 'landscape' }, '842x595'],
    [{ use_print_stylesheet: false }, '595x842'],
    [{ use_print_stylesheet: false, page_size: 'A5' }, '420x595'],
  ])('prints with %o on paper of %s points', async (options, size) => {
    const html = `${head}<style>@page{size:4in 6in}</style>x`;

    expect((await pageSizes((await convertHtml(html, 'pdf', options)).path)).size).toBe(size);
  });

  it('leaves a margin of so many millimetres', async () => {
    const html = `${head}<style>html,body{margin:0;background:none}div{height:400px;background:red}</style><div></div>`;

    const { at } = await decode(await paint((await convertHtml(html, 'pdf', { margin: 30, margin_top: 60 })).path));

    // 30 mm are 85 points.
    expectColour(at(80, 200), white, 'in the margin');
    expectColour(at(90, 200), red, 'next to the margin');
    expectColour(at(90, 165), white, 'in the margin at the top');
  });

  it('fits a wide window onto the paper, or scales the page by hand', async () => {
    const html = `${head}<style>body{margin:0}div{width:1400px;height:100px;background:red}@media(max-width:1000px){div{background:green}}</style><div></div>${'<p>line</p>'.repeat(100)}`;

    const wide = (await convertHtml(html, 'pdf', { viewport_width: 1400, margin: 0 })).path;
    const half = (await convertHtml(html, 'pdf', { scale: 0.5 })).path;
    const plain = (await convertHtml(html, 'pdf', {})).path;

    const { at } = await decode(await paint(wide));
    expectColour(at(585, 20), red, 'at the right end of the paper');
    expect((await pageSizes(half)).pages).toBeLessThan((await pageSizes(plain)).pages);
  });

  it('omits backgrounds from a PDF on request', async () => {
    const html = `${head}<body style="background:red">x`;

    const { at } = await decode(await paint((await convertHtml(html, 'pdf', { print_background: false })).path));

    expectColour(at(200, 200), white, 'without background');
  });

  it('tags a PDF for screen readers unless told otherwise', async () => {
    const html = `${head}<body><h1>Heading</h1>`;
    const structureOf = async (options: OptionValues) => {
      const { path } = await convertHtml(html, 'pdf', options);
      return (await runProgram('pdfinfo', ['-struct-text', path], { cwd: join(path, '..') })).stdout;
    };

    expect(await structureOf({})).toMatch(/H1[\s\S]*Heading/);
    expect(await structureOf({ tagged: false })).not.toContain('H1');
  });

  it.each(['domcontentloaded', 'load', 'networkidle2', 'networkidle0'])('renders after %s', async (wait_until) => {
    const { at } = await decode(
      (await convertHtml(`${head}<body style="background:green">`, 'png', { wait_until })).path,
    );

    expectColour(at(50, 50), green, 'on the page');
  });

  it('reads UTF-8 without a declaration, and other encodings by theirs', async () => {
    const words = async (html: string, encoding: BufferEncoding) => {
      const path = join(await temporaryFolder(), 'page.html');
      await writeFile(path, html, encoding);
      const output = await convertFile(path, 'html', 'pdf');
      return (await runProgram('pdftotext', [output.path, '-'], { cwd: join(path, '..') })).stdout;
    };

    expect(await words('<p>Grüße an alle Größen</p>', 'utf8')).toContain('Grüße an alle Größen');
    expect(await words('<meta charset="iso-8859-1"><p>Grüße an alle</p>', 'latin1')).toContain('Grüße an alle');
    expect(await words('\ufeff<p>Grüße an alle</p>', 'utf16le')).toContain('Grüße an alle');
  });
});
