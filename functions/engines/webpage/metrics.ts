import type { Page } from 'puppeteer-core';

/** Measures the whole page in its own pixels. */
export async function contentSize(page: Page): Promise<{ width: number; height: number }> {
  // The session ends with the page: detaching it would reset the emulated media.
  const session = await page.createCDPSession();
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  return { width: Math.ceil(cssContentSize.width), height: Math.ceil(cssContentSize.height) };
}
