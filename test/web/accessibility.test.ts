import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium } from '../support/chromium.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { makeViews, type View } from './views.ts';

let service: RunningService;
let browser: Browser;
let files: string;
let views: View[];

beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), 'lathe-views-'));
  service = await startService();
  browser = await startChromium();
  views = await makeViews(service, files);
});

afterAll(async () => {
  await browser.close();
  await service.stop();
  await rm(files, { recursive: true, force: true });
});

/** One row: the menu of narrow windows opens on request. */
const maxHeaderHeight = 72;

const looks = [
  { scheme: 'light', width: 1200 },
  { scheme: 'dark', width: 1200 },
  { scheme: 'light', width: 320 },
];

test('no view violates WCAG 2.2 AA or is wider than the window, light, dark and narrow', {
  timeout: 300_000,
}, async () => {
  const found: string[] = [];
  for (const view of views) {
    const page = await browser.newPage();
    await page.goto(service.url + view.path);
    await page.waitForSelector('main :not([aria-busy])');
    await view.prepare?.(page);
    // Bypasses the policy of the page, which only allows its own scripts.
    await page.evaluate(axe.source);
    for (const { scheme, width } of looks) {
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run({
          runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        }),
      );
      const place = `${view.name} (${scheme}, ${width} pixels)`;
      for (const { id, nodes } of violations)
        found.push(...nodes.map(({ target, failureSummary }) => `${place}: ${id} ${target} ${failureSummary}`));
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (isWider) found.push(`${place} is wider than the window`);
      const isCut = await page.evaluate(() =>
        [...document.querySelectorAll('table')].some(
          (table) => table.offsetWidth > (table.parentElement?.clientWidth ?? 0),
        ),
      );
      if (isCut) found.push(`${place} has a table that is cut off`);
      const [header = 0] = await page.$$eval('header', (all) => all.map(({ offsetHeight }) => offsetHeight));
      if (header > maxHeaderHeight && view.name !== 'menu') found.push(`${place} has a header of ${header} pixels`);
    }
    await page.close();
  }
  expect(found).toEqual([]);
});

test('what the API reference adds to its package is accessible', async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${service.url}/docs`);
  await page.waitForSelector('#reference h1');
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const { scheme, width } of looks) {
    await page.setViewport({ width, height: 800 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    const { violations, passes } = await page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(
        { exclude: [['#reference > *']] },
        { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
      ),
    );
    expect(passes.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['color-contrast', 'document-title', 'html-has-lang']),
    );
    for (const { id, nodes } of violations)
      found.push(
        ...nodes.map(({ target, failureSummary }) => `${scheme}, ${width}: ${id} ${target} ${failureSummary}`),
      );
  }
  await page.close();
  expect(found).toEqual([]);
});
