import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium } from '../support/chromium.ts';
import { startService } from '../support/running-stack.ts';
import { makeViews } from './views.ts';

/** Writes a picture of each view, light, dark and as wide as a phone, to the folder that is named, or `.lathe/screenshots`. */
const folder = process.argv[2] ?? '.lathe/screenshots';
const looks = [
  { look: 'light', scheme: 'light', width: 1200 },
  { look: 'dark', scheme: 'dark', width: 1200 },
  { look: 'phone', scheme: 'light', width: 390 },
];

await mkdir(folder, { recursive: true });
const files = await mkdtemp(join(tmpdir(), 'lathe-views-'));
const service = await startService();
const browser = await startChromium();
try {
  for (const view of await makeViews(service, files)) {
    for (const { look, scheme, width } of looks) {
      const page = await browser.newPage();
      await page.setViewport({ width, height: 844 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.goto(service.url + view.path);
      await page.waitForSelector('main :not([aria-busy])');
      await view.prepare?.(page);
      await page.screenshot({ path: join(folder, `${view.name}-${look}.png`), fullPage: true });
      await page.close();
    }
  }
} finally {
  await browser.close();
  await service.stop();
  await rm(files, { recursive: true, force: true });
}
process.stdout.write(`The screenshots are in ${folder}.\n`);
