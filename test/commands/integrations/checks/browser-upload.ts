import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { colourAt, distance, red, twoHalves } from '../../../support/images.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';
import { withUploadPage } from '../upload-page.ts';

export const check: Check = async (tools) => {
  await using example = new Example('browser-upload');
  example.installNpm();
  const service = await tools.service();
  await writeFile(example.file('picture.png'), await twoHalves(60, 40));
  await writeFile(example.file('broken.png'), 'not a picture');
  await writeFile(example.file('large.png'), Buffer.alloc(20_000_001));

  await withUploadPage(tools, example, async ({ page, url, requests, convert, result }) => {
    const session = await page.createCDPSession();
    await session.send('Network.enable');
    const events: { event: string }[] = [];
    session.on('Network.webSocketFrameReceived', ({ response }) => events.push(JSON.parse(response.payloadData)));

    assert.equal(await convert(example.file('picture.png'), 'webp'), 'Download picture.webp');

    const image = await result();
    assert.equal((await sharp(image).metadata()).format, 'webp');
    assert.ok(distance(await colourAt(image, 0.2, 0.5), red) < 20);
    assert.ok(
      events.some(({ event }) => event === 'task_completed'),
      JSON.stringify(events),
    );
    const posts = requests.filter((request) => request.method() === 'POST').map((request) => request.url());
    assert.equal(posts.length, 2);
    assert.ok(posts[0]?.startsWith(url) && !posts[1]?.startsWith(url), posts.join(' '));
    assert.match(await convert(example.file('broken.png'), 'webp'), /looks like|not a|cannot|could not/i);
    assert.match(await convert(example.file('large.png'), 'webp'), /maximum allowed size|too large|exceeds/i);

    // The token of a page shows one job, and is no key.
    const foreign = await fetch(`${url}/conversions?to=webp`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    assert.equal(foreign.status, 403);
    const refused = await fetch(`${url}/conversions?to=mp4`, { method: 'POST' });
    assert.equal(refused.status, 400, await refused.text());
    const begun = await fetch(`${url}/conversions?to=webp`, { method: 'POST' });
    const { events: address } = JSON.parse(await begun.text());
    const token = new URL(address).searchParams.get('token') ?? '';
    for (const path of ['/v1/process/jobs', '/v1/account/me']) {
      const { status } = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(status, 401);
    }
  });

  const { body } = await service.client.call<{ docs: { name: string; scopes: string[] }[] }>('GET', '/v1/account/keys');
  const keys = body.docs.filter(({ name }) => name === 'Visitors of the upload page');
  assert.deepEqual(
    keys.map(({ scopes }) => scopes.toSorted()),
    [['process', 'read']],
  );
  return 'a picture converted in Chromium without a key, with events by WebSocket; a broken and a too large file explained';
};
