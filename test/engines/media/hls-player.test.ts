import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startChromium } from '../../support/chromium.ts';
import type { Played } from './played.ts';
import { film, makeFilm, type Stream, splitStreamOf, streamOf } from './streams.ts';

const mediaTypes: Record<string, string> = {
  m3u8: 'application/vnd.apple.mpegurl',
  m4s: 'video/iso.segment',
  mp4: 'video/mp4',
  vtt: 'text/vtt',
  js: 'text/javascript',
};
const html = '<!doctype html><video muted></video><script src="player.js"></script>';

let streams: Record<string, Stream>;
let server: Server;
let browser: Browser;

beforeAll(async () => {
  const input = { path: await makeFilm(), format: 'mkv' };
  const options = { renditions: '360,240', segment_seconds: 3 };
  streams = { whole: await streamOf(input, options), split: await splitStreamOf(input, options) };
  const entryPoints = [fileURLToPath(new URL('../../web/play-stream.ts', import.meta.url))];
  const { outputFiles } = await build({ entryPoints, bundle: true, write: false });
  const player = outputFiles[0]?.contents;
  server = createServer((request, response) => {
    const [, kind = '', ...rest] = (request.url ?? '/').split('/');
    const name = rest.join('/');
    const file = { '': html, 'player.js': player }[name] ?? streams[kind]?.files.get(name);
    const type = mediaTypes[name.split('.')[1] ?? ''] ?? 'text/html';
    response.writeHead(file ? 200 : 404, { 'content-type': type }).end(file);
  }).listen(0, '127.0.0.1');
  browser = await startChromium();
});

afterAll(async () => {
  await browser.close();
  server.close();
});

describe('hls.js in Chromium', () => {
  test.each(['whole', 'split'])(
    'plays a %s stream to its end without a gap while it switches renditions at each segment',
    async (kind) => {
      // Prepare
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('The server has no port.');
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${address.port}/${kind}/`);

      // Act
      const played: Played = JSON.parse(String(await page.evaluate('played')));

      // Assess
      expect(played.errors).toEqual([]);
      expect(new Set(played.levels)).toEqual(new Set([0, 1]));
      expect(played.buffered).toHaveLength(1);
      const [[start, end] = [Number.NaN, Number.NaN]] = played.buffered;
      expect(start).toBe(0);
      expect(end).toBeCloseTo(film.seconds, 0);
      expect(played.duration).toBeCloseTo(film.seconds, 1);
      expect(played.shown[0]).toBeLessThan(0.5);
      expect(played.shown.at(-1)).toBeGreaterThan(film.seconds - 0.5);
      expect(played.tracks).toEqual(['German de', 'English en']);
      expect(played.cues).toEqual([
        [1, 3, 'Hello <i>there</i>'],
        [5.5, 6.5, 'Across a seam'],
        [11, 12, 'The end'],
      ]);
    },
  );
});
