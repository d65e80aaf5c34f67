import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { ffmpeg } from '../engines/media/samples.ts';
import { startChromium } from '../support/chromium.ts';
import { type RunningService, startService } from '../support/running-stack.ts';

/** The service whose page the scenarios use. */
export let service: RunningService;
/** Has files to choose, and room for what is made. */
export let folder: string;
/** A new one for each test. */
export let page: Page;
let browser: Browser;
let files: Server;
/** Requests to anybody else, and what the page reported: errors, and what its policy blocked. */
let complaints: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-page-'));
  const picture = await sharp({ create: { width: 320, height: 200, channels: 3, background: '#c64a1b' } })
    .png()
    .toBuffer();
  await writeFile(join(folder, 'picture.png'), picture);
  await writeFile(join(folder, 'letter.md'), '# A letter\n\nWith *emphasis*.\n');
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=25:duration=1', '-c:v', 'mpeg4', path('film.avi'));
  files = createServer((req, res) => {
    res.writeHead(200, { 'content-type': req.url === '/article' ? 'text/html' : 'image/png' });
    if (req.url === '/article') res.end('<!doctype html><title>Article</title><h1>Turned on a lathe</h1>');
    else if (req.url === '/picture.png') res.end(picture);
    else if (req.url === '/film.avi') createReadStream(path('film.avi')).pipe(res);
    // Never ends: a transfer that can be canceled at any time.
    else res.write(picture.subarray(0, 100));
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  service = await startService({ LATHE_ALLOW_HOSTS: '127.0.0.1' });
  browser = await startChromium();
});

afterAll(async () => {
  await browser.close();
  await service.stop();
  files.closeAllConnections();
  files.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  complaints = [];
  page = await browser.newPage();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    // Who is not signed in yet, builds what is no job yet, or converts what cannot be, learns that by these responses.
    if (message.type() === 'error' && !/status of (?:400|401|422|503)/.test(text)) complaints.push(text);
  });
  page.on('request', (sent) => {
    const { hostname, protocol } = new URL(sent.url());
    if (protocol.startsWith('http') && !['localhost', '127.0.0.1'].includes(hostname)) complaints.push(sent.url());
  });
  await page.goto(service.url);
});

afterEach(async () => {
  expect(complaints).toEqual([]);
  await page.close();
});

/** Returns the path of a file to choose. */
export const path = (name: string) => join(folder, name);
/** Returns the address of a file that the service may import. */
export const fileUrl = (name: string) => `http://127.0.0.1:${(files.address() as AddressInfo).port}/${name}`;
