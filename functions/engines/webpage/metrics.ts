import type { Page } from 'puppeteer-core';

/** Measures the whole page in its own pixels. */
export async function contentSize(page: Page): Promise<{ width: number; height: number }> {
  // The session is left to end with the page: to detach it would undo the medium that the page is shown for.
  const session = await page.createCDPSession();
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  return { width: Math.ceil(cssContentSize.width), height: Math.ceil(cssContentSize.height) };
}
