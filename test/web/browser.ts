import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { until } from '../support/until.ts';

/** Chooses files on the page. */
export async function choose(page: Page, ...paths: string[]): Promise<void> {
  const input = await page.waitForSelector('input[type=file]');
  await input?.uploadFile(...paths);
}

/** Waits for a button or link with this text, and clicks it. */
export async function click(page: Page, name: string): Promise<void> {
  const selector = `main :is(button, a, summary)::-p-text(${name})`;
  await page.locator(selector).setTimeout(60_000).click();
}

/** Waits until the last format picker shows one of the formats, or the one with this selector. */
export async function showsFormat(page: Page, format: string, picker = 'li button.format'): Promise<void> {
  await page.waitForFunction(
    (css, wanted) => [...document.querySelectorAll<HTMLButtonElement>(css)].at(-1)?.value === wanted,
    // Not by frames, which a busy browser draws late.
    { timeout: 60_000, polling: 100 },
    picker,
    format,
  );
}

/** Chooses a format by keyboard: opens the last picker, or the one with this selector, types and presses Enter. */
export async function chooseFormat(page: Page, format: string, picker = 'li button.format'): Promise<void> {
  await page.waitForFunction((css) => document.querySelector(`${css}:enabled`), {}, picker);
  const button = (await page.$$(picker)).at(-1);
  await button?.focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('.formats input:focus');
  await page.keyboard.type(format);
  await page.waitForSelector('[aria-label="Matching formats"]');
  await page.keyboard.press('Enter');
  await showsFormat(page, format, picker);
}

/** Waits until the page shows a text. */
export async function shows(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`main ::-p-text(${text})`, { timeout: 60_000 });
}

/** Saves the first result by its link, as a click does, and returns its bytes. */
export async function save(page: Page, folder: string): Promise<Buffer> {
  await shows(page, 'Download');
  const downloadPath = await mkdtemp(join(folder, 'saved-'));
  const session = await page.createCDPSession();
  await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath });
  await page.locator('a[download]').click();
  const name = await until('the file is saved', async () =>
    (await readdir(downloadPath)).find((saved) => !saved.endsWith('.crdownload')),
  );
  return readFile(join(downloadPath, name));
}
