import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PageSizes, PDFDocument } from '@cantoo/pdf-lib';
import type { Page } from 'puppeteer-core';
import sharp from 'sharp';
import type { RunningService } from '../support/running-stack.ts';
import { choose, click, shows, showsFormat } from './browser.ts';

/** A state of the page to check. */
export interface View {
  name: string;
  path: string;
  /** Brings the page from its path to the state. */
  prepare?(page: Page): Promise<void>;
}

/** Creates the data for the views, and returns them. The folder receives the files to choose on the page. */
export async function makeViews(service: RunningService, folder: string): Promise<View[]> {
  const send = async (path: string, body: object): Promise<{ id: string }> => {
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { id: string };
  };
  const picture = join(folder, 'meadow.png');
  await writeFile(picture, await sharp(Buffer.from(meadow)).png().toBuffer());
  const report = await PDFDocument.create();
  for (const size of [PageSizes.A4, PageSizes.A4, PageSizes.Letter])
    report.addPage(size).drawText('Report', { x: 60, y: 700, size: 60 });
  const paper = join(folder, 'report.pdf');
  await writeFile(paper, await report.save());
  const text = join(folder, 'letter.md');
  await writeFile(text, '# A letter\n');
  // Its format is detected by its name until it is converted.
  const film = join(folder, 'film.avi');
  await writeFile(film, 'A film.');
  const file = { operation: 'import/base64', file: dataUri('image/svg+xml', meadow), filename: 'meadow.svg' };
  const webhook = await send('/v1/account/webhooks', { url: 'https://example.com/lathe', events: ['job.failed'] });
  await send('/v1/account/keys', { name: 'Nightly import', expires_in: 86_400 * 90 });
  const job = await send('/v1/process/jobs', {
    tag: 'meadow',
    tasks: {
      picture: file,
      small: { operation: 'convert', input: 'picture', output_format: 'webp' },
      large: { operation: 'convert', input: 'picture', output_format: 'png' },
      paper: { operation: 'convert', input: 'large', output_format: 'pdf' },
      links: { operation: 'export/url', input: ['small', 'paper'] },
    },
  });
  const failed = await send('/v1/process/jobs', {
    tag: 'broken',
    tasks: {
      text: { operation: 'import/base64', file: dataUri('image/png', 'no picture'), filename: 'x.png' },
      picture: { operation: 'convert', input: 'text', output_format: 'webp' },
    },
  });
  for (const { id } of [job, failed])
    await fetch(`${service.url}/v1/process/jobs/${id}/wait`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
  const chosen = async (page: Page) => {
    await choose(page, picture);
    await showsFormat(page, 'webp');
  };
  return [
    { name: 'convert', path: '/' },
    {
      name: 'options',
      path: '/',
      async prepare(page) {
        await chosen(page);
        await click(page, 'Options');
        await page.waitForSelector('.options');
      },
    },
    {
      name: 'formats',
      path: '/',
      async prepare(page) {
        await chosen(page);
        await page.locator('li button.format').click();
        await page.waitForSelector('.formats input:focus');
      },
    },
    {
      name: 'several',
      path: '/',
      async prepare(page) {
        await choose(page, picture, text, film);
        await showsFormat(page, 'mp4');
        await page.locator('button[aria-label="Remove film.avi"]').click();
        await click(page, 'Merge into one PDF');
        await page.waitForSelector('button[aria-label="Remove 2 files in one"]');
      },
    },
    {
      name: 'video',
      path: '/',
      async prepare(page) {
        await choose(page, film);
        await showsFormat(page, 'mp4');
        await click(page, 'Options');
        await click(page, 'Advanced');
      },
    },
    {
      name: 'result',
      path: '/',
      async prepare(page) {
        await chosen(page);
        await click(page, 'Convert');
        await page.waitForFunction(
          () => [...document.querySelectorAll<HTMLImageElement>('.compare img')].some(({ complete }) => complete),
          { timeout: 60_000 },
        );
      },
    },
    {
      name: 'address',
      path: '/',
      async prepare(page) {
        await page.locator('input[name=url]').fill('https://example.com/news');
        await click(page, 'Add');
        await showsFormat(page, 'pdf');
      },
    },
    {
      name: 'builder',
      path: '/builder',
      async prepare(page) {
        await click(page, 'Two formats of one picture');
        await (await page.waitForSelector('li input[type=file]'))?.uploadFile(picture);
        await page.locator('li summary::-p-text(Options)').click();
        await page.waitForSelector('.options input');
        await page.select('#operation', 'import/sftp');
        await click(page, 'Add task');
        await page.waitForSelector('.field .wrong');
      },
    },
    {
      name: 'documents',
      path: '/documents',
      async prepare(page) {
        await (await page.waitForSelector('input[type=file][accept]'))?.uploadFile(paper);
        await page.waitForFunction(
          () => {
            const pictures = [...document.querySelectorAll<HTMLImageElement>('.page-picture')];
            return pictures.length === 3 && pictures.every(({ complete }) => complete);
          },
          { timeout: 60_000 },
        );
        await page.locator('button[aria-label="Rotate Page 2 of report.pdf"]').click();
        await page.locator('.pages input[type=checkbox]').click();
        await page.locator('summary::-p-text(Code)').click();
      },
    },
    {
      name: 'menu',
      path: '/usage',
      async prepare(page) {
        await shows(page, 'By day');
        // Wide windows show the menu anyway.
        await page.$eval('.menu-button', (button) => (button as HTMLButtonElement).click());
      },
    },
    { name: 'jobs', path: '/jobs', prepare: (page) => shows(page, 'meadow') },
    { name: 'job', path: `/jobs/${job.id}`, prepare: (page) => shows(page, 'links') },
    { name: 'failed-job', path: `/jobs/${failed.id}`, prepare: (page) => shows(page, 'Tasks') },
    { name: 'usage', path: '/usage', prepare: (page) => shows(page, 'By day') },
    { name: 'keys', path: '/keys', prepare: (page) => shows(page, 'Nightly import') },
    { name: 'webhooks', path: '/webhooks', prepare: (page) => shows(page, 'https://example.com/lathe') },
    { name: 'deliveries', path: `/webhooks/${webhook.id}`, prepare: (page) => shows(page, 'All webhooks') },
    { name: 'members', path: '/members', prepare: (page) => shows(page, 'New team') },
    { name: 'audit', path: '/audit', prepare: (page) => shows(page, 'key.created') },
    { name: 'not-found', path: '/nope' },
    { name: 'sign-in-failed', path: '/auth/callback?state=unknown' },
    { name: 'unknown-job', path: `/jobs/${'0'.repeat(24)}`, prepare: (page) => shows(page, 'There is no') },
    {
      name: 'signed-out',
      path: '/jobs',
      async prepare(page) {
        await page.evaluate(() => sessionStorage.setItem('lathe-signed-out', 'yes'));
        const all = await page.browserContext().cookies();
        await page.browserContext().deleteCookie(...all);
        await page.reload();
        await shows(page, 'Sign in to see your jobs');
        await page.evaluate(() => sessionStorage.clear());
        await page.browserContext().setCookie(...all);
      },
    },
  ];
}

const dataUri = (type: string, text: string) => `data:${type};base64,${Buffer.from(text).toString('base64')}`;

const meadow = `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="540">
<rect width="900" height="540" fill="#9fd0ef"/><circle cx="690" cy="130" r="64" fill="#ffd76a"/>
<path d="M0 360q220-150 450-40t450-30v250H0z" fill="#5d9c59"/><path d="M0 430q260-90 500-20t400-30v160H0z" fill="#3f7a46"/></svg>`;
