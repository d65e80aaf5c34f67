import { createServer as createTcpServer } from 'node:net';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { download, filesOf, taskOf } from '../support/client.ts';
import { blue, type Colour, colourAt, distance, red, twoHalves } from '../support/images.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { type FileServer, startFileServer } from './file-server.ts';

const green: Colour = { r: 10, g: 140, b: 60 };
const yellow: Colour = { r: 240, g: 200, b: 20 };
const css = ({ r, g, b }: Colour) => `rgb(${r}, ${g}, ${b})`;

let service: RunningService;
let site: FileServer;
/** Stands for what the page must not reach; it is on the same address as the site, whose port alone is excepted. */
let canary: Awaited<ReturnType<typeof startCanary>>;

beforeAll(async () => {
  canary = await startCanary();
  const picture = await twoHalves(400, 100);
  const assets = new Map<string, { type: string; body: string | Buffer }>([
    ['/style.css', { type: 'text/css', body: stylesheet(canary.port) }],
    ['/picture.png', { type: 'image/png', body: picture }],
    ['/script.js', { type: 'text/javascript', body: script(canary.port) }],
  ]);
  site = await startFileServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const asset = assets.get(pathname);
    if (pathname === '/moved.png' || pathname === '/moved')
      response.writeHead(302, { location: `http://127.0.0.1:${canary.port}${pathname}` }).end();
    else if (asset) response.writeHead(200, { 'content-type': asset.type }).end(asset.body);
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page(canary.port));
  });
  service = await startService({ LATHE_ALLOW_HOSTS: `127.0.0.1:${site.port}` });
});
afterAll(async () => {
  await Promise.all([service, site, canary].map((each) => each?.[Symbol.asyncDispose]()));
});

describe('import/webpage on the running service', () => {
  it('shows a page with all it loads, but for what has a forbidden address: that is never requested', async () => {
    const job = await service.client.runJob(
      {
        page: { operation: 'import/webpage', url: `${site.url}/articles/%C3%9Cbersicht?x=1` },
        picture: {
          operation: 'convert',
          input: 'page',
          output_format: 'png',
          options: { viewport_width: 400, viewport_height: 400 },
        },
        few: {
          operation: 'convert',
          input: 'page',
          output_format: 'png',
          options: {
            viewport_width: 400,
            png_compression_level: 'lossy',
            png_convert_quality: 60,
            image_custom_width: 200,
          },
        },
        paper: { operation: 'convert', input: 'page', output_format: 'pdf' },
        link: { operation: 'export/url', input: 'picture' },
      },
      { seconds: 110 },
    );

    expect(filesOf(job, 'page')).toMatchObject([{ filename: 'Übersicht.html', format: 'html' }]);
    const [link] = filesOf(job, 'link');
    const picture = await download(link?.url ?? '');
    expect(await sharp(picture).metadata()).toMatchObject({ format: 'png', width: 400, height: 400 });
    const seen = await Promise.all(
      [
        [0.5, 0.125],
        [0.25, 0.375],
        [0.75, 0.375],
        [0.5, 0.625],
      ].map(([across = 0, down = 0]) => colourAt(picture, across, down)),
    );
    // The style sheet's block, both halves of the picture, and the block that the script makes.
    for (const [index, wanted] of [green, red, blue, yellow].entries())
      expect(distance(seen[index] ?? green, wanted)).toBeLessThan(12);
    const [few] = filesOf(job, 'few');
    expect(await sharp(await download(few?.url ?? '')).metadata()).toMatchObject({ width: 200, isPalette: true });
    const [paper] = filesOf(job, 'paper');
    expect((await PDFDocument.load(await download(paper?.url ?? ''))).getPageCount()).toBe(1);
    expect(site.requests.map(({ target }) => target)).toEqual(
      expect.arrayContaining(['/style.css', '/picture.png', '/script.js', '/moved.png', '/moved']),
    );
    expect(canary.touched).toEqual([]);
  });

  it.each(['html', 'pdf', 'mp4'])('lists the options of the picture that %s becomes', async (from) => {
    const names = ['png_compression_level', 'png_convert_quality', 'image_custom_width', 'background', 'strip'];
    const { body } = await service.client.call<{ options: { name: string }[] }>(
      'GET',
      `/v1/query/options/convert?input_format=${from}&output_format=png`,
    );

    expect(body.options.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  });

  it('refuses a page that has a forbidden address, or moves to one', async () => {
    const { id } = await service.client.createJob({
      direct: { operation: 'import/webpage', url: `http://127.0.0.1:${canary.port}/` },
      moved: { operation: 'import/webpage', url: `${site.url}/moved` },
      metadata: { operation: 'import/webpage', url: 'http://169.254.169.254/latest/meta-data/' },
    });
    const ended = await service.client.waitForJob(id, { seconds: 110 });
    for (const name of ['direct', 'moved', 'metadata'])
      expect(taskOf(ended, name).result).toMatchObject({
        errorCode: 'processing_failed',
        msg: expect.stringContaining('is not a public address'),
      });
    expect(canary.touched).toEqual([]);
  });
});

function page(forbidden: number): string {
  const refused = [`127.0.0.1:${forbidden}`, `localhost:${forbidden}`, `[::1]:${forbidden}`, `2130706433:${forbidden}`];
  return `<!doctype html><meta charset="utf-8"><title>Übersicht</title>
    <link rel="stylesheet" href="/style.css">
    <div class="styled"></div>
    <img src="/picture.png" style="display: block">
    <div id="made"></div>
    <div class="unseen">
      <img src="/moved.png"><iframe src="/moved"></iframe>
      ${refused.map((host) => `<img src="http://${host}/image"><iframe src="http://${host}/frame"></iframe><script src="http://${host}/script"></script>`).join('\n')}
    </div>
    <script src="/script.js"></script>`;
}

function stylesheet(forbidden: number): string {
  return `@import "http://127.0.0.1:${forbidden}/import.css";
    body { margin: 0; background: url(http://127.0.0.1:${forbidden}/background.png) }
    .styled { height: 100px; background: ${css(green)} }
    .unseen { height: 100px; overflow: hidden; opacity: 0 }`;
}

function script(forbidden: number): string {
  return `const made = document.getElementById('made');
    made.style = 'height: 100px; background: ${css(yellow)}';
    fetch('http://127.0.0.1:${forbidden}/fetch', { mode: 'no-cors' }).catch(() => {});
    navigator.sendBeacon('http://localhost:${forbidden}/beacon', 'x');
    new WebSocket('ws://127.0.0.1:${forbidden}/socket');`;
}

/** Counts connections: one that says nothing is one too many. */
async function startCanary() {
  const touched: string[] = [];
  const server = createTcpServer((socket) => {
    touched.push('connected');
    socket.on('error', () => undefined).on('data', (data) => touched.push(String(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The canary has no port.');
  return {
    port: address.port,
    touched,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
