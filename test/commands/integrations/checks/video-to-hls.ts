import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { startChromium } from '../../../support/chromium.ts';
import { startFileServer } from '../../../transfers/file-server.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.m3u8': 'application/vnd.apple.mpegurl',
};

export const check: Check = async (tools) => {
  await using example = new Example('video-to-hls');
  example.installNpm();
  const service = await tools.service();
  const env = { ...process.env, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey };
  const video = example.file('video.mp4');
  const folder = example.file('stream');
  const seconds = 8;
  const sources = [`testsrc2=size=640x360:rate=24:duration=${seconds}`, `sine=duration=${seconds}`];
  const inputs = sources.flatMap((source) => ['-f', 'lavfi', '-i', source]);
  tools.run('ffmpeg', [
    '-loglevel',
    'error',
    ...inputs,
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-c:a',
    'aac',
    video,
  ]);

  const output = await example.succeed(process.execPath, ['stream.ts', video, folder], { env });

  assert.match(output, /^processing/m);
  const probe = ['-v', 'error', '-show_entries', 'format=duration:stream=codec_name,height', '-of', 'json'];
  const probed = JSON.parse(tools.run('ffprobe', [...probe, join(folder, 'master.m3u8')]));
  const streams: { codec_name: string; height?: number }[] = probed.streams;
  assert.deepEqual([...new Set(streams.map(({ codec_name }) => codec_name))].sort(), ['aac', 'h264']);
  assert.ok(Math.abs(Number(probed.format.duration) - seconds) < 0.3, `${probed.format.duration} seconds`);

  await using site = await startFileServer(async (request, response) => {
    const path = join(folder, request.url === '/' ? 'index.html' : (request.url ?? ''));
    const content = await readFile(path).catch(() => undefined);
    response.writeHead(content ? 200 : 404, { 'content-type': types[extname(path)] ?? 'video/mp4' }).end(content);
  });
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(site.url);
    await page.evaluate('video.muted = true; void video.play()');
    await page.waitForFunction('video.currentTime > 2', { timeout: 120_000, polling: 200 });
    const [width, height] = JSON.parse(
      String(await page.evaluate('JSON.stringify([video.videoWidth, video.videoHeight])')),
    );
    assert.deepEqual([width, height], [640, 360]);
    assert.equal(await page.$('p'), null, 'The page shows an error.');
  } finally {
    await browser.close();
  }

  const again = await example.run(process.execPath, ['stream.ts', video, folder], { env });
  assert.equal(again.status, 1);
  assert.match(again.stderr, /EEXIST/);
  return `${streams.length} streams of ${seconds} seconds probed, and played in Chromium; a folder that exists is refused`;
};
