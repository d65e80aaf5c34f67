import puppeteer, { type Browser } from 'puppeteer-core';
import { findChromium } from '../../functions/engines/webpage/chromium.ts';

/** Starts Chromium without a desktop, with a new profile. */
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
