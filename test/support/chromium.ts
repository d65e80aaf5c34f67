import puppeteer, { type Browser } from 'puppeteer-core';
import { findChromium } from '../../functions/engines/webpage/chromium.ts';

/** Starts Chromium as on a machine without a desktop, with a profile of its own. */
export async function startChromium(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: (await findChromium()).path,
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
}
