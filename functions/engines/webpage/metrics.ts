import type { CDPSession } from 'puppeteer-core';

/** Measures the whole page in its own pixels. */
export async function contentSize(session: CDPSession): Promise<{ width: number; height: number }> {
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  return { width: Math.ceil(cssContentSize.width), height: Math.ceil(cssContentSize.height) };
}
