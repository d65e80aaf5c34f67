import assert from 'node:assert/strict';
import type { HTTPRequest, Page } from 'puppeteer-core';
import { startChromium } from '../../support/chromium.ts';
import { freePort } from '../../support/free-port.ts';
import type { Example } from './example.ts';
import type { Tools } from './tools.ts';

export interface UploadPage {
  url: string;
  page: Page;
  /** Every request of the page. */
  requests: HTTPRequest[];
  /** Converts a file on the page, and returns the text of the status once the button is enabled again. */
  convert(path: string, to: string): Promise<string>;
  /** Returns the file that the link leads to. */
  result(): Promise<Buffer>;
}

/** Opens the page of an example in Chromium, with the server of the example behind it. */
export async function withUploadPage(
  tools: Tools,
  example: Example,
  use: (page: UploadPage) => Promise<void>,
): Promise<void> {
  const service = await tools.service();
  const port = await freePort();
  const env = { ...process.env, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey, PORT: String(port) };
  const url = `http://localhost:${port}`;
  const server = await example.start(process.execPath, ['server.ts'], url, { env });
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    const requests: HTTPRequest[] = [];
    page.on('request', (request) => requests.push(request));
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(url);
    await use({
      url,
      page,
      requests,
      async convert(path, to) {
        const input = await page.waitForSelector('input[type=file]');
        await (input as { uploadFile(path: string): Promise<void> } | null)?.uploadFile(path);
        await page.select('select', to);
        await page.click('form button');
        await page.waitForFunction(
          'document.querySelector("form button").disabled === false && document.querySelector("[role=status]").textContent !== ""',
          { timeout: 300_000, polling: 200 },
        );
        return String(await page.evaluate('document.querySelector("[role=status]").textContent'));
      },
      async result() {
        const link = String(await page.evaluate('document.querySelector("[role=status] a").href'));
        const response = await fetch(link);
        assert.equal(response.status, 200);
        return Buffer.from(await response.arrayBuffer());
      },
    });
    assert.deepEqual(errors, []);
    // Neither the key of the account nor one that is derived from it has reached the page.
    for (const request of requests) {
      const text = `${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ''}`;
      assert.doesNotMatch(text, /lathe_[\w-]{20}|authorization/i, request.url());
      const body = request.url().startsWith(url)
        ? await request
            .response()
            ?.text()
            .catch(() => '')
        : '';
      assert.doesNotMatch(body ?? '', /lathe_[\w-]{20}/, request.url());
    }
  } catch (error) {
    throw new Error(`The page failed. Its server has written:\n${server.output()}`, { cause: error });
  } finally {
    await browser.close();
  }
}
