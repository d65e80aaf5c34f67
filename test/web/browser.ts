import type { Page } from 'puppeteer-core';

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

/** Waits until the page shows a text. */
export async function shows(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`main ::-p-text(${text})`, { timeout: 60_000 });
}
