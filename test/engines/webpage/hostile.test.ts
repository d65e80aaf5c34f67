import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { runProgram, warmPrograms } from '../../../functions/engines/runtime/program.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { capturePage } from '../../../functions/engines/webpage/capture.ts';
import { startProxy } from '../../../functions/engines/webpage/proxy.ts';
import { renderPage } from '../../../functions/engines/webpage/render.ts';
import { parseAllowHosts } from '../../../shared/net/addresses.ts';
import { decode, expectColour } from './matrix.ts';
import { convertHtml, quiet, startCanary, startSite, temporaryFolder } from './site.ts';

const head = '<!doctype html><meta charset="utf-8">';

async function textOf(html: string, options = {}): Promise<string> {
  const { path } = await convertHtml(html, 'pdf', options);
  return (await runProgram('pdftotext', [path, '-'], { cwd: await temporaryFolder() })).stdout;
}

describe('hostile pages', () => {
  afterAll(closeBrowser);
  afterEach(() => {
    delete process.env.LATHE_ALLOW_HOSTS;
  });

  it('opens no connection to loopback for any element, script, worker, socket or peer', async () => {
    const { port, touched } = await startCanary();
    const hosts = [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `0.0.0.0:${port}`,
      `2130706433:${port}`,
      `127.1:${port}`,
    ];
    const elements = hosts.map(
      (host) => `<img src="http://${host}/i"><img srcset="http://${host}/s 1x"><script src="http://${host}/j"></script>
        <link rel="stylesheet" href="http://${host}/c"><link rel="preload" as="image" href="http://${host}/p"><link rel="prefetch" href="http://${host}/f">
        <link rel="preconnect" href="http://${host}/"><link rel="dns-prefetch" href="http://${host}/"><link rel="icon" href="http://${host}/n"><link rel="manifest" href="http://${host}/m">
        <iframe src="http://${host}/r"></iframe><frame src="http://${host}/r2"><object data="http://${host}/o"></object><embed src="http://${host}/e">
        <video src="http://${host}/v" poster="http://${host}/vp" autoplay></video><audio src="http://${host}/a" autoplay></audio><track src="http://${host}/t">
        <input type="image" src="http://${host}/in"><svg><image href="http://${host}/sv"/><use href="http://${host}/u#x"/><feImage href="http://${host}/fe"/></svg>
        <style>@import "http://${host}/im"; @font-face{font-family:x${port};src:url(http://${host}/ft)} .b{background:url(http://${host}/bg);cursor:url(http://${host}/cu),auto;font-family:x${port}}</style>
        <div class="b">text</div><body background="http://${host}/bo"><form action="http://${host}/fo" method="post" target="t"><button id="go">x</button></form>`,
    );
    const script = `<script>
      for (const host of ${JSON.stringify(hosts)}) {
        const attempts = [
          () => fetch('http://' + host, { mode: 'no-cors' }),
          () => fetch('https://' + host, { mode: 'no-cors' }),
          () => navigator.sendBeacon('http://' + host, 'x'),
          () => new WebSocket('ws://' + host),
          () => new WebSocket('wss://' + host),
          () => new EventSource('http://' + host),
          () => { const request = new XMLHttpRequest(); request.open('GET', 'http://' + host); request.send(); },
          () => new Worker(URL.createObjectURL(new Blob(['fetch("http://' + host + '");new WebSocket("ws://' + host + '")']))),
          () => { const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + host }, { urls: 'turn:' + host + '?transport=tcp', username: 'a', credential: 'b' }] }); peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer)); },
          () => { const frame = document.createElement('iframe'); document.documentElement.append(frame); const peer = new frame.contentWindow.RTCPeerConnection({ iceServers: [{ urls: 'stun:' + host }] }); peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer)); },
          () => new WebTransport('https://' + host),
          () => window.open('http://' + host),
          () => document.getElementById('go').click(),
        ];
        for (const attempt of attempts) try { attempt()?.catch?.(() => {}); } catch {}
      }
    </script>`;

    const text = await textOf(`${head}${elements.join('\n')}<p>Still here</p>${script}`, { initial_delay: 2 });

    expect(text).toContain('Still here');
    expect(touched).toEqual([]);
  });

  it('shows no local file in a frame, an object, an image, by a script or by moving there', async () => {
    const files = [
      'file:///etc/passwd',
      'file:///proc/self/environ',
      'file://localhost/etc/passwd',
      'view-source:file:///etc/passwd',
      'filesystem:file:///etc/passwd',
      'chrome://version',
      'chrome://settings',
    ];
    const frames = files.map(
      (url) => `<iframe src="${url}"></iframe><object data="${url}"></object><embed src="${url}"><img src="${url}">`,
    );
    const script = `<script>
      for (const url of ${JSON.stringify(files)}) {
        fetch(url).then((response) => response.text()).then((text) => document.body.append(text), () => {});
        try { const request = new XMLHttpRequest(); request.open('GET', url, false); request.send(); document.body.append(request.responseText); } catch {}
      }
      setTimeout(() => { location = 'file:///etc/passwd'; }, 100);
    </script>`;

    const text = await textOf(
      `${head}<base href="file:///etc/">${frames.join('')}<p>Still here</p><iframe src="passwd"></iframe>${script}`,
      { initial_delay: 1 },
    );

    expect(text).toContain('Still here');
    expect(text).not.toMatch(/root:|daemon|PATH=|Chromium/);
  });

  it('lets a page load what the operator excepts, and only on that port', async () => {
    const { touched, port } = await startCanary();
    const site = await startSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/svg+xml' });
      response.end(
        '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="200" height="200" fill="#008000"/></svg>',
      );
    });
    process.env.LATHE_ALLOW_HOSTS = site.host;

    const { path } = await convertHtml(
      `${head}<body style="margin:0"><img src="${site.url}x.svg"><img src="http://127.0.0.1:${port}/">`,
      'png',
    );

    expectColour((await decode(path)).at(100, 100), [0, 128, 0], 'in the image');
    expect(touched).toEqual([]);
  });

  it.each([301, 302, 307])('does not follow a redirect (%d) to a private address', async (status) => {
    const { touched, port } = await startCanary();
    const site = await startSite((_request, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${port}/secret` }).end();
    });
    const allow = parseAllowHosts(site.host);

    const capture = capturePage(site.url, { allow, signal: quiet.signal });

    await expect(capture).rejects.toThrow(/not a public address/);
    expect(touched).toEqual([]);
  });

  it.each([
    'http://127.0.0.1/',
    'http://localhost:9001/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'file:///etc/passwd',
    'http://user@example.com/',
    'http://0x7f.1/',
  ])('refuses to capture %s before a browser sees it', async (url) => {
    const capture = capturePage(url, { allow: new Set(), signal: quiet.signal });

    await expect(capture).rejects.toThrow(EngineError);
  });

  it('gives up a page whose script never ends, and works on afterwards', async () => {
    const folder = await temporaryFolder();
    const htmlPath = `${folder}/endless.html`;
    await writeFile(htmlPath, `${head}<script>for (;;) {}</script>`);

    const endless = renderPage({
      source: { htmlPath },
      load: {},
      target: { format: 'png', fullPage: true },
      output: `${folder}/out.png`,
      allow: new Set(),
      signal: quiet.signal,
      timeoutMs: 4000,
    });

    await expect(endless).rejects.toThrow(/A script may run endlessly/);
    expect(await textOf(`${head}<p>Next page</p>`)).toContain('Next page');
  });

  it.each([
    '<meta http-equiv="refresh" content="0">',
    '<script>location.reload()</script>',
    '<script>location = "/?" + Math.random()</script>',
  ])('ends with a page that loads itself again by %s', async (markup) => {
    const outcome = await convertHtml(`${head}${markup}<p>Again</p>`, 'png').then(
      () => 'rendered',
      (error: unknown) => error,
    );

    if (outcome !== 'rendered') expect(outcome).toBeInstanceOf(EngineError);
  });

  it('rejects pages of millions of pixels with a message that suggests a fix, which works', async () => {
    const tall = `${head}<div style="height:5000000px">x</div>`;

    await expect(convertHtml(tall, 'png')).rejects.toThrow(/million pixels\. Set full_page to false/);
    await expect(convertHtml(tall, 'pdf')).rejects.toThrow(/pages; the maximum is 2,000/);
    await expect(convertHtml(`${head}<div style="height:20000px">x</div>`, 'webp')).rejects.toThrow(
      /the maximum for webp is 16,383/,
    );
    const { path } = await convertHtml(tall, 'png', { full_page: false });
    expect(await decode(path)).toMatchObject({ width: 1440, height: 900 });
  });

  it('keeps no downloads, closes pop-ups and dismisses dialogs', async () => {
    const html = `${head}<p>Calm</p><a id="d" download="x.bin" href="data:application/octet-stream,abc">x</a><script>
      alert(1); confirm(2); prompt(3); for (let i = 0; i < 5; i++) window.open('about:blank'); document.getElementById('d').click();
      window.onbeforeunload = () => 'stay'; print();</script>`;

    expect(await textOf(html, { initial_delay: 0.5 })).toContain('Calm');
  });

  it('carries nothing from one task to the next', async () => {
    const write = `${head}<script>document.cookie = 'mark=1; max-age=9999'; localStorage.mark = '1'; sessionStorage.mark = '1';</script><p>Written</p>`;
    const read = `${head}<p id="p"></p><script>p.textContent = 'Found:' + document.cookie + (localStorage.mark ?? '') + (sessionStorage.mark ?? '') + ':end'</script>`;

    await textOf(write);

    expect(await textOf(read)).toContain('Found::end');
  });

  it('tunnels to an excepted host, as secure pages and WebSockets need, and to no other', async () => {
    const { touched, port: privatePort } = await startCanary();
    const site = await startSite((_request, response) => response.end('through the tunnel'));
    const proxy = await startProxy({ requests: 10, bytes: 100_000 });
    proxy.open({ allow: parseAllowHosts(site.host) });
    const { port, hostname } = new URL(proxy.url);
    const tunnel = (authority: string) =>
      new Promise<string>((done) => {
        const outgoing = request({ host: hostname, port, method: 'CONNECT', path: authority, agent: false });
        outgoing.on('connect', (response, socket) => {
          if (response.statusCode !== 200) return done(String(response.statusCode));
          let text = '';
          socket.on('data', (chunk) => {
            text += chunk;
          });
          socket.on('close', () => done(text));
          socket.write(`GET / HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`);
        });
        outgoing.on('error', (error) => done(error.message)).end();
      });

    const responses = [
      await tunnel(site.host),
      await tunnel(`127.0.0.1:${privatePort}`),
      await tunnel(`[::1]:${privatePort}`),
    ];
    proxy.close();

    expect(responses[0]).toContain('through the tunnel');
    expect(responses.slice(1)).toEqual(['403', '403']);
    expect(touched).toEqual([]);
  });

  it('loads nothing through a proxy whose task has not begun', async () => {
    const { touched, port: privatePort } = await startCanary();
    const proxy = await startProxy({ requests: 10, bytes: 100_000 });
    const { port, hostname } = new URL(proxy.url);
    const respond = (method: string, path: string) =>
      new Promise<number>((done, fail) => {
        const outgoing = request({ host: hostname, port, method, path, agent: false });
        outgoing.on('response', (response) => done(response.resume().statusCode ?? 0));
        outgoing.on('connect', (response) => done(response.statusCode ?? 0));
        outgoing.on('error', fail).end();
      });

    const statuses = [
      await respond('GET', 'http://uploaded-file.invalid/'),
      await respond('GET', `http://127.0.0.1:${privatePort}/`),
      await respond('CONNECT', 'example.com:443'),
    ];
    proxy.close();

    expect(statuses).toEqual([403, 403, 403]);
    expect(touched).toEqual([]);
  });

  it('goes on with another browser if the one that waits for the next task is killed', async () => {
    expect(await textOf(`${head}<p>First page</p>`)).toContain('First page');

    const [browser] = warmPrograms();
    if (browser === undefined) throw new Error('No browser waits.');
    process.kill(browser, 'SIGKILL');
    await vi.waitFor(() => expect(warmPrograms()).toEqual([]));

    expect(await textOf(`${head}<p>Second page</p>`)).toContain('Second page');
  });

  it('stops a page that fetches without end by number and by size', async () => {
    const site = await startSite((_request, response) => response.end(Buffer.alloc(100_000)));
    const proxy = await startProxy({ requests: 3, bytes: 250_000 });
    proxy.open({ allow: parseAllowHosts(site.host) });
    const fetchThrough = () =>
      new Promise<number>((done) => {
        const { port, hostname } = new URL(proxy.url);
        const outgoing = request({ host: hostname, port, path: site.url, agent: false }, (response) => {
          response
            .on('error', () => done(0))
            .on('end', () => done(response.statusCode ?? 0))
            .resume();
        });
        outgoing.on('error', () => done(0)).end();
      });

    const responses = [await fetchThrough(), await fetchThrough(), await fetchThrough(), await fetchThrough()];
    const exceeded = proxy.exceeded();
    proxy.close();

    expect(responses).toEqual([200, 200, 0, 429]);
    expect(exceeded).toBe('bytes');
  });
});
