import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { findChromium } from '../../functions/engines/webpage/chromium.ts';

/** Starts a browser that knows nobody, and asks nobody but the service. */
export async function startBrowser(): Promise<{ browser: Browser; stop(): Promise<void> }> {
  const userDataDir = await mkdtemp(join(tmpdir(), 'lathe-browser-'));
  const browser = await puppeteer.launch({
    executablePath: (await findChromium()).path,
    userDataDir,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return {
    browser,
    async stop() {
      await browser.close();
      await rm(userDataDir, { recursive: true, force: true });
    },
  };
}

/** Chooses files on the page, as its button does. */
export async function choose(page: Page, ...paths: string[]): Promise<void> {
  const input = await page.waitForSelector('input[type=file]');
  await input?.uploadFile(...paths);
}

/** Clicks the first button or link of this name that can be clicked, as soon as there is one. */
export async function click(page: Page, name: string): Promise<void> {
  const selector = `main :is(button, a, summary)::-p-text(${name})`;
  await page.locator(selector).setTimeout(60_000).click();
}

/** Waits until the page shows a text. */
export async function shows(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`main ::-p-text(${text})`, { timeout: 60_000 });
}
