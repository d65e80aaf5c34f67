import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { capturePage } from '../../../functions/engines/webpage/capture.ts';
import { renderPage } from '../../../functions/engines/webpage/render.ts';
import { parseAllowHosts } from '../../../shared/net/addresses.ts';
import { quiet, startSite, temporaryFolder } from './site.ts';

const page = `<!doctype html><html><head><title>Ü</title><link rel="stylesheet" href="/a.css">
<style>.inner { width: 90px; height: 70px; background: url(/image.png?a=1&b=2) }</style></head><body>
<h1>Grüße</h1><img src="/image.png"><img srcset="/image.png?s=1 1x, /image.png?s=2 2x" src="/no" alt="x">
<picture><source srcset="/image.png?p" type="image/png"><img src="/no"></picture><div class="inner"></div>
<div style='width: 50px; height: 50px; background: url("/image.png?i")'></div><a href="/image.png">link</a>
<iframe src="/frame" width="200" height="60"></iframe><div id="host"></div>
<svg width="40" height="40"><image href="/image.png?v" width="40" height="40" /></svg>
<input value="typed"><canvas id="canvas" width="50" height="50"></canvas><p id="made"></p><p class="mono">mono font</p>
<script>
document.getElementById('made').textContent = 'made by script';
document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<b style="color: green">shadow</b>';
document.getElementById('canvas').getContext('2d').fillRect(5, 5, 30, 30);
document.querySelector('input').value = 'changed';
</script></body></html>`;

async function startSamplePage() {
  const image = await sharp({ create: { width: 80, height: 60, channels: 3, background: '#c00000' } })
    .png()
    .toBuffer();
  const font = readFileSync('/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf');
  const send = (response: ServerResponse, type: string, body: string | Buffer) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  };
  return startSite(({ url = '' }, response) => {
    if (url === '/') send(response, 'text/html; charset=utf-8', page);
    else if (url === '/a.css')
      send(
        response,
        'text/css',
        '@import "/b.css"; @font-face { font-family: M; src: url(/f.ttf) } .mono { font: 20px M } h1 { background: url(image.png?c) no-repeat right }',
      );
    else if (url === '/b.css') send(response, 'text/css', 'body { background: #ffffee }');
    else if (url === '/f.ttf') send(response, 'font/ttf', font);
    else if (url === '/frame')
      send(response, 'text/html', '<body style="background:#cfc">framed <img width=20 src=/image.png?f>');
    else if (url.startsWith('/image.png')) send(response, 'image/png', image);
    else response.writeHead(404).end();
  });
}

describe('capturing a live page', () => {
  afterAll(closeBrowser);

  it('returns one file that looks the same without the network', async () => {
    const site = await startSamplePage();
    const folder = await temporaryFolder();
    const allow = parseAllowHosts(site.host);
    const shared = {
      load: { viewportWidth: 800, viewportHeight: 600 },
      target: { format: 'png', fullPage: true },
      signal: quiet.signal,
    } as const;
    await renderPage({ ...shared, source: { url: site.url }, allow, output: join(folder, 'live.png') });

    const html = await capturePage(site.url, { load: shared.load, allow, signal: quiet.signal });
    await writeFile(join(folder, 'captured.html'), html);
    site.requests.length = 0;
    await renderPage({
      ...shared,
      source: { htmlPath: join(folder, 'captured.html') },
      allow: new Set(),
      output: join(folder, 'captured.png'),
    });

    expect(site.requests).toEqual([]);
    expect(html).not.toContain('<script');
    const compared = await runProgram(
      'ffmpeg',
      ['-i', 'live.png', '-i', 'captured.png', '-lavfi', 'ssim', '-f', 'null', '-'],
      { cwd: folder },
    );
    expect(Number(/All:([\d.]+)/.exec(compared.stderr)?.[1])).toBeGreaterThan(0.99);
  });

  it('reports the status of a page that does not exist', async () => {
    const site = await startSite((_request, response) => response.writeHead(404).end('gone'));

    const capture = capturePage(site.url, { allow: parseAllowHosts(site.host), signal: quiet.signal });

    await expect(capture).rejects.toThrow('The server responded with status 404.');
  });

  it('reports that a URL returns a download', async () => {
    const site = await startSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' });
      response.end('bytes');
    });

    const capture = capturePage(site.url, { allow: parseAllowHosts(site.host), signal: quiet.signal });

    await expect(capture).rejects.toThrow(/download/);
  });
});
