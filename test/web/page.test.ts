import { readFile, truncate, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { HTTPRequest } from 'puppeteer-core';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { until } from '../support/until.ts';
import { choose, chooseFormat, click, save, shows, showsFormat } from './browser.ts';
// One running service for all of them: starting it takes longer than most of these tests.
import './builder-scenarios.ts';
import './document-scenarios.ts';
import { fileUrl, folder, page, path, service } from './running-page.ts';

/** Waits for the one result and returns its bytes, as a click on its link saves them. */
async function downloaded(): Promise<Buffer> {
  await shows(page, 'Download');
  const href = await page.$eval('a[download]', (link) => link.href);
  return href.startsWith('blob:') ? save(page, folder) : Buffer.from(await (await fetch(href)).arrayBuffer());
}

/** Notes the requests that create something or convert. */
function noteRequests(): string[] {
  const sent: string[] = [];
  page.on('request', (made) => {
    const { pathname } = new URL(made.url());
    if (made.method() === 'POST' && pathname.startsWith('/v1/')) sent.push(pathname);
  });
  return sent;
}

/** Has the instant requests of the page answered in another way. */
async function interceptInstant(act: (made: HTTPRequest) => Promise<void>): Promise<void> {
  await page.setRequestInterception(true);
  page.on('request', (made) => void (made.url().endsWith('/v1/instant/convert') ? act(made) : made.continue()));
}

/** Returns the header of a WAV file of a size: 16 bits, two channels, 44.1 kHz. */
function wavHeader(size: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(size - 8, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(44_100, 24);
  header.writeUInt32LE(176_400, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(size - 44, 40);
  return header;
}

async function jobs(): Promise<{ id: string }[]> {
  await page.waitForSelector('header ::-p-text(Sign out)', { timeout: 60_000 });
  const list = async () => (await fetch('/v1/process/jobs')).json() as Promise<{ docs: { id: string }[] }>;
  return (await page.evaluate(list)).docs;
}

test('a small file is converted within one request, and its result is in the tab only', async () => {
  await choose(page, path('letter.md'));
  await showsFormat(page, 'pdf');
  const before = await jobs();
  const sent = noteRequests();
  await click(page, 'Convert');
  expect((await downloaded()).subarray(0, 5).toString()).toBe('%PDF-');
  expect(sent).toEqual(['/v1/instant/convert']);
  expect(await jobs()).toEqual(before);
  await shows(page, 'This file is only in this tab');
});

test('the text of a small file is shown', async () => {
  await choose(page, path('letter.md'));
  await showsFormat(page, 'pdf');
  await chooseFormat(page, 'html');
  await click(page, 'Convert');
  await page.waitForSelector('section[aria-label="Preview of letter.html"] ::-p-text(emphasis)');
});

test('a small file becomes a job if the service is busy, or makes one of it', async () => {
  await choose(page, path('picture.png'));
  await showsFormat(page, 'webp');
  const sent = noteRequests();
  await interceptInstant((made) => made.respond({ status: 503, headers: { 'retry-after': '3' }, body: '{}' }));
  await click(page, 'Convert');
  expect((await sharp(await downloaded()).metadata()).format).toBe('webp');
  expect(sent).toEqual(expect.arrayContaining(['/v1/instant/convert', '/v1/process/jobs']));
  expect(await page.$$('::-p-text(only in this tab)')).toHaveLength(0);

  await page.reload();
  page.removeAllListeners('request');
  await interceptInstant((made) => made.continue({ headers: { ...made.headers(), prefer: 'respond-async' } }));
  await choose(page, path('picture.png'));
  await showsFormat(page, 'webp');
  const again = noteRequests();
  await click(page, 'Convert');
  expect((await sharp(await downloaded()).metadata()).format).toBe('webp');
  expect(again).not.toContain('/v1/process/jobs');
});

test('a small file that cannot be converted is reported, and a conversion within a request is canceled', async () => {
  await writeFile(path('broken.png'), 'Not a picture.');
  await choose(page, path('broken.png'));
  await click(page, 'Convert');
  await page.waitForSelector('.notice.bad[role=alert]', { timeout: 60_000 });
  expect(await page.$('a[download]')).toBeNull();
  await interceptInstant(() => Promise.resolve());
  await click(page, 'Try again');
  await shows(page, 'Converting to');
  expect(await page.$eval('progress', (bar) => bar.hasAttribute('value'))).toBe(false);
  await click(page, 'Cancel');
  await shows(page, 'Canceled');
});

test('a result that only the tab has is in the ZIP of all', async () => {
  await choose(page, path('letter.md'));
  await showsFormat(page, 'pdf');
  await click(page, 'Convert');
  await shows(page, 'only in this tab');
  await choose(page, path('picture.png'));
  await showsFormat(page, 'webp');
  await click(page, 'Convert all (1)');
  await shows(page, 'Download all as ZIP (2)');
  const zip = page.waitForRequest((made) => made.url().endsWith('.zip'), { timeout: 60_000 });
  await click(page, 'Download all as ZIP');
  const content = Buffer.from(await (await fetch((await zip).url())).arrayBuffer());
  expect(content.includes('letter.pdf') && content.includes('picture.webp')).toBe(true);
});

test('a dropped image is converted with the options of the form, without signing in manually', async () => {
  const bytes = [...(await readFile(path('picture.png')))];
  await page.waitForSelector('.drop');
  await page.evaluate((content) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(content)], 'picture.png', { type: 'image/png' }));
    document.querySelector('.drop')?.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
  }, bytes);
  await showsFormat(page, 'webp');
  await click(page, 'Options');
  await (await page.waitForSelector('input[id$=-image_custom_width]'))?.type('160');
  await click(page, 'Convert');
  expect(await sharp(await downloaded()).metadata()).toMatchObject({ format: 'webp', width: 160, height: 100 });
  // Both images are shown for comparison.
  await page.waitForFunction(() => {
    const pictures = [...document.querySelectorAll<HTMLImageElement>('.compare img')];
    return pictures.length === 2 && pictures.every(({ naturalWidth }) => naturalWidth > 0);
  });
  await shows(page, 'smaller');
});

test('a format is found by its alias, by keyboard alone, after the usual ones', async () => {
  await choose(page, path('picture.png'));
  await showsFormat(page, 'webp');
  await page.focus('li button.format');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.formats input:focus');
  const titles = await page.$$eval('.formats [role=group]', (groups) => groups.map(({ ariaLabel }) => ariaLabel));
  expect(titles.slice(0, 2)).toEqual(['Usual', 'Images']);
  const names = await page.$$eval('.formats [role=option]', (all) => all.map(({ textContent }) => textContent));
  expect(names).toEqual(expect.arrayContaining(['JPG', 'TIFF', 'PDF']));
  expect(names.filter((name) => ['JPEG', 'TIF', 'JFIF', 'TARGA'].includes(name ?? ''))).toEqual([]);
  const active = () =>
    page.$eval(
      '.formats input',
      (input) => document.getElementById(input.getAttribute('aria-activedescendant') ?? '')?.textContent,
    );
  await page.keyboard.press('ArrowDown');
  expect(await active()).toBe('WEBP');
  await page.keyboard.press('ArrowRight');
  expect(await active()).toBe('JPG');
  await page.keyboard.press('ArrowDown');
  expect(await active()).not.toBe('JPG');
  await page.keyboard.type('unheard');
  await page.waitForSelector('.formats ::-p-text(No format matches)');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.activeElement?.matches('li button.format'));
  // A letter opens the list with a search for it.
  await page.keyboard.type('jpeg');
  await page.keyboard.press('Enter');
  await showsFormat(page, 'jpg');
  await page.waitForFunction(() => document.activeElement?.matches('li button.format'));
  await page.locator('li button.format').click();
  await page.locator('.formats [role=option]::-p-text(TIFF)').click();
  await showsFormat(page, 'tiff');
  await page.locator('li button.format').click();
  await page.locator('h1').click();
  await page.waitForFunction(() => !document.querySelector('.formats'));
});

test('the options of a video are grouped, with unique labels and readable defaults', async () => {
  await choose(page, path('film.avi'));
  await showsFormat(page, 'mp4');
  await click(page, 'Options');
  await page.waitForSelector('.option-groups');
  expect(await page.$$eval('.option-groups legend', (all) => all.map(({ textContent }) => textContent))).toEqual([
    'Basic',
    'Video',
    'Audio',
  ]);
  await click(page, 'Advanced');
  const labels = await page.$$eval('.option-groups label', (all) => all.map(({ textContent }) => textContent));
  expect(labels.length).toBeGreaterThan(10);
  expect(labels).toEqual([...new Set(labels)]);
  const chosen = await page.$$eval('.option-groups select', (all) =>
    all.map(({ selectedOptions: [option] }) => option?.textContent ?? ''),
  );
  expect(chosen.length).toBeGreaterThan(5);
  for (const text of chosen) expect(text).toMatch(/^Automatic$|^\S.{0,40} \(default\)$/);
  await page.select('select[id$=-video_codec]', 'libx265');
  await page.waitForSelector('::-p-text(Options (1))');
});

test('several files are merged into one PDF and one GIF, in their order', async () => {
  const second = await sharp({ create: { width: 320, height: 200, channels: 3, background: '#1b4ac6' } })
    .png()
    .toBuffer();
  await writeFile(path('second.png'), second);
  await choose(page, path('picture.png'), path('second.png'));
  await page.locator('button[aria-label="Move second.png up"]').click();
  await click(page, 'Merge into one PDF or GIF');
  await shows(page, 'second.png, picture.png');
  await showsFormat(page, 'pdf', 'li:first-child button.format');
  await page.locator('li:first-child button.main').click();
  const pdf = (await downloaded()).toString('latin1');
  expect(pdf.slice(0, 5)).toBe('%PDF-');
  expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(2);
  await page.locator('button[aria-label="Remove 2 files in one"]').click();
  await click(page, 'Merge into one PDF or GIF');
  await page.waitForSelector('li:first-child button.format');
  await chooseFormat(page, 'gif', 'li:first-child button.format');
  await page.locator('li:first-child button.main').click();
  const gif = sharp(await downloaded(), { page: 0 });
  expect(await gif.metadata()).toMatchObject({ format: 'gif', pages: 2, width: 320 });
  const { data } = await gif.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  // Blue came second, and was moved up.
  expect(data[2]).toBeGreaterThan(data[0] ?? 255);
});

test('all files are set to one format, except for those that it does not suit', async () => {
  await choose(page, path('picture.png'), path('letter.md'), path('film.avi'));
  await showsFormat(page, 'mp4');
  await chooseFormat(page, 'gif', '#to-all');
  await shows(page, '1 file cannot be converted to this format');
  expect(
    await page.$$eval('li button.format', (all) => all.map((button) => (button as HTMLButtonElement).value)),
  ).toEqual(['gif', 'pdf', 'gif']);
});

test('an upload shows its percent and the time left', async () => {
  await writeFile(path('large.txt'), 'A line of text.\n'.repeat(200_000));
  await choose(page, path('large.txt'), path('letter.md'));
  await showsFormat(page, 'pdf');
  const session = await page.createCDPSession();
  await session.send('Network.enable');
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 150_000 };
  await session.send('Network.emulateNetworkConditions', slow);
  await page.locator('li:first-child button.main').click();
  await page.waitForFunction(
    () =>
      /^\d+% · (?:about .+|a few seconds) left$/.test(
        document.querySelector('li:first-child .number')?.textContent ?? '',
      ),
    { timeout: 60_000 },
  );
  await page.locator('li:first-child button::-p-text(Cancel)').click();
  await shows(page, 'Canceled');
});

test('the upload of a large file is resumed after a reload', async () => {
  // Seven parts. The sound is a hole, which takes no space.
  const size = 6 * 16 * 1024 ** 2 + 1000;
  await writeFile(path('long.wav'), wavHeader(size));
  await truncate(path('long.wav'), size);
  const partOf = (made: HTTPRequest) =>
    made.method() === 'PUT' ? Number(new URL(made.url()).searchParams.get('partNumber')) : 0;
  const stored: number[] = [];
  page.on('response', (response) => {
    if (response.ok() && partOf(response.request()) > 0) stored.push(partOf(response.request()));
  });
  const session = await page.createCDPSession();
  await session.send('Network.enable');
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 10_000_000 };
  await session.send('Network.emulateNetworkConditions', slow);
  await choose(page, path('long.wav'));
  await click(page, 'Convert');
  await until('parts are stored', () => stored.length >= 2);
  const before = [...stored];
  await page.reload();
  const sent: number[] = [];
  page.on('request', (made) => {
    if (partOf(made) > 0) sent.push(partOf(made));
  });

  await choose(page, path('long.wav'));
  await click(page, 'Convert');
  await shows(page, 'Converting to');

  expect(sent.length).toBeGreaterThan(0);
  expect(sent.filter((part) => before.includes(part))).toEqual([]);
  await click(page, 'Cancel');
  await shows(page, 'Canceled');
});

test('an option is shown only with those that it depends on', async () => {
  await choose(page, path('picture.png'));
  await showsFormat(page, 'webp');
  await chooseFormat(page, 'jpg');
  await click(page, 'Options');
  await page.waitForSelector('input[id$=-quality]');
  const conditional = await page.evaluate(async () => {
    const response = await fetch('/v1/query/options/convert?input_format=png&output_format=jpg');
    const { options } = (await response.json()) as {
      options: { name: string; conditions: { name: string; required: boolean }[] }[];
    };
    return options.filter(({ conditions }) => conditions.some(({ required }) => required)).map(({ name }) => name);
  });
  for (const name of conditional) expect(await page.$(`[id$=-${name}]`), name).toBeNull();
});

test('a document and an image are converted together and downloaded as one ZIP', async () => {
  await choose(page, path('letter.md'), path('picture.png'));
  await showsFormat(page, 'pdf', 'li:first-child button.format');
  await showsFormat(page, 'webp');
  await click(page, 'Convert all (2)');
  await shows(page, 'Download all as ZIP (2)');
  const [letter = ''] = await page.$$eval('a[download]', (links) => links.map(({ href }) => href));
  expect((await (await fetch(letter)).text()).slice(0, 5)).toBe('%PDF-');
  const zip = page.waitForRequest((sent) => sent.url().includes('/v1/files/') && sent.url().endsWith('.zip'), {
    timeout: 60_000,
  });
  await click(page, 'Download all as ZIP');
  const content = Buffer.from(await (await fetch((await zip).url())).arrayBuffer());
  expect(content.subarray(0, 4).toString('latin1')).toBe('PK\u0003\u0004');
  expect(content.includes('letter.pdf')).toBe(true);
  expect(content.includes('picture.webp')).toBe(true);
});

test('a file is fetched from its URL, and an invalid URL is rejected', async () => {
  await page.type('input[name=url]', 'picture');
  await click(page, 'Add');
  await shows(page, 'Enter a URL such as');
  await page.$eval('input[name=url]', (input) => {
    input.value = '';
  });
  await page.type('input[name=url]', fileUrl('picture.png'));
  await click(page, 'Add');
  await click(page, 'Convert');
  expect(await sharp(await downloaded()).metadata()).toMatchObject({ format: 'webp', width: 320 });
});

test('a URL is converted as a rendered page or as a file', async () => {
  await page.type('input[name=url]', fileUrl('article'));
  await click(page, 'Add');
  // Without a filename it is a page, and its options are known.
  await page.waitForSelector('summary');
  await page.locator('label::-p-text(The file at this URL)').click();
  await page.waitForFunction(() => !document.querySelector('summary'));
  await page.locator('label::-p-text(The web page)').click();
  await chooseFormat(page, 'png');
  await click(page, 'Options');
  await page.locator('input[id$=-viewport_width]').fill('500');
  await click(page, 'Convert');
  expect(await sharp(await downloaded()).metadata()).toMatchObject({ format: 'png', width: 500 });
});

test('a video is converted and tracked if no WebSocket opens', async () => {
  await page.evaluateOnNewDocument(() => {
    globalThis.WebSocket = class extends EventTarget {
      constructor() {
        super();
        queueMicrotask(() => this.dispatchEvent(new Event('error')));
      }
    } as unknown as typeof WebSocket;
  });
  await page.reload();
  await page.locator('input[name=url]').fill(fileUrl('film.avi'));
  await click(page, 'Add');
  await showsFormat(page, 'mp4');
  const waited = page.waitForRequest((sent) => sent.url().endsWith('/wait'));
  await click(page, 'Convert');
  await waited;
  expect((await downloaded()).subarray(4, 8).toString()).toBe('ftyp');
});

test('a conversion is canceled on the page and in the service', async () => {
  await page.type('input[name=url]', fileUrl('endless.png'));
  await click(page, 'Add');
  await click(page, 'Convert');
  await shows(page, 'Converting to');
  await click(page, 'Cancel');
  await shows(page, 'Canceled');
  const statuses = async () => {
    const { docs } = (await page.evaluate(async () => (await fetch('/v1/process/tasks?per_page=3')).json())) as {
      docs: { status: string }[];
    };
    return docs.map(({ status }) => status);
  };
  await expect.poll(statuses, { timeout: 30_000 }).toContain('canceled');
  expect(await statuses()).not.toContain('processing');
});

test('a file of an unknown format is reported', async () => {
  await writeFile(path('thing.unheard'), 'x');
  await choose(page, path('thing.unheard'));
  await shows(page, 'cannot be converted');
});

test('the API reference names the version of the service', async () => {
  const { version } = (await (await fetch(`${service.url}/health`)).json()) as { version: string };
  await page.goto(`${service.url}/docs`);
  await page.waitForSelector(`::-p-text(v${version})`, { timeout: 60_000 });
});

test('the API reference sends test requests with the entered key to this host only', async () => {
  page.setDefaultTimeout(60_000);
  await page.setViewport({ width: 1280, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  await page.goto(`${service.url}/docs#tag/account/GET/v1/account/me`);
  // The text is in a visually hidden part of the button.
  const opener = await page.waitForSelector('button::-p-text((get /v1/account/me))');
  await opener?.evaluate((text) => text.closest('button')?.click());
  expect(await page.$eval('body', (body) => body.className)).toContain('dark-mode');
  await page.locator('input[id^=scalar-client][placeholder=Token]').fill(service.apiKey);
  const [response] = await Promise.all([
    page.waitForResponse((received) => new URL(received.url()).pathname === '/v1/account/me'),
    page.locator('.scalar-client button::-p-text(Send)').click(),
  ]);
  expect(response.status()).toBe(200);
  expect(response.request().headers().authorization).toBe(`Bearer ${service.apiKey}`);
  await page.waitForSelector('.scalar-client ::-p-text("requestsPerMinute")');
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(
    service.apiKey,
  );
});

test('the page loads nothing from other origins, and its hashed files are immutable', async () => {
  const first = await fetch(service.url);
  const policy = first.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).not.toContain('unsafe');
  expect(first.headers.get('x-content-type-options')).toBe('nosniff');
  const html = await first.text();
  const scripts = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
  expect(scripts.length).toBeGreaterThan(1);
  let bytes = 0;
  for (const file of scripts) {
    const response = await fetch(new URL(file, service.url));
    expect(response.headers.get('cache-control')).toContain('immutable');
    if (file.endsWith('.js')) bytes += gzipSync(await response.text()).length;
  }
  expect(bytes).toBeLessThan(200_000);
  const docs = await fetch(`${service.url}/docs`);
  const reference = docs.headers.get('content-security-policy');
  expect(reference).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'");
  expect(reference).not.toContain('unsafe-eval');
  // The page loads nothing of the reference, which is fifty times larger.
  const others = [...(await docs.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file]) => file);
  expect(others.filter((file) => scripts.includes(file ?? ''))).toEqual([]);
});

test('the page serves its own paths and filenames only', async () => {
  const { port } = new URL(service.url);
  const get = (target: string, host = `localhost:${port}`) =>
    new Promise<{ status: number; location: string | undefined; type: string | undefined }>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: target, headers: { host } }, (response) => {
        response.resume();
        const { location, 'content-type': type } = response.headers;
        resolve({ status: response.statusCode ?? 0, location, type });
      })
        .once('error', reject)
        .end();
    });
  for (const known of ['/', '/jobs', `/jobs/${'a'.repeat(24)}`, '/usage?x=1', '/docs'])
    expect(await get(known), known).toMatchObject({ status: 200, type: 'text/html' });
  for (const unknown of [
    '/job',
    '/jobs/x',
    '/assets/../package.json',
    '/assets/none.js',
    '/index.html',
    '/docs.html',
    '/docs/x',
  ])
    expect((await get(unknown)).status, unknown).toBe(404);
  expect(await get('/jobs', `127.0.0.1:${port}`)).toMatchObject({ status: 302, location: `${service.url}/jobs` });
  for (const host of ['bad.example', `bad.example:${port}`, 'localhost:1'])
    expect((await get('/', host)).status, host).toBe(421);
  expect(await readFile(join(projectRoot, 'web/index.html'), 'utf8')).not.toMatch(/<style|<script>/);
});
