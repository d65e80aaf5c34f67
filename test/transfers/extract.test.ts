import { buffer } from 'node:stream/consumers';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { exportObjstoreA } from '../../functions/transfers/objstore-a.ts';
import type { JsonObject } from '../../shared/tasks/task.ts';
import { failureOf, makeInput, noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';
import { type S3Store, startS3Store } from './stores.ts';
import { openToxicLink } from './toxic-link.ts';

let own: OwnBucket;
let store: S3Store;

beforeAll(async () => {
  own = await startOwnBucket();
  store = await startS3Store();
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

async function zipOf(files: Record<string, Buffer>, compress = false): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(content, name, { compress });
  zip.end();
  return buffer(zip.outputStream);
}

async function exporting(content: Buffer, change: JsonObject, port = store.port) {
  const input = await makeInput([{ name: 'film.zip', content, mediaType: 'application/zip' }]);
  const parameters = {
    bucket: store.bucket,
    region: 'us-east-1',
    endpoint: store.endpoint(port),
    ...store.credentials,
    extract: true,
    ...change,
  };
  return exportObjstoreA(makeRun('export/objstore_a', parameters, [input]), makeSettings());
}

async function keysBelow(prefix: string): Promise<string[]> {
  const { Contents } = await store.client.send(new ListObjectsV2Command({ Bucket: store.bucket, Prefix: prefix }));
  return (Contents ?? []).flatMap(({ Key }) => Key ?? []);
}

const film = {
  'master.m3u8': Buffer.from('#EXTM3U\n'),
  'manifest.mpd': Buffer.from('<MPD/>'),
  '360p/init.mp4': noise(700),
  '360p/00001.m4s': noise(12_000_000),
  '360p/00002.m4s': noise(3),
  'subtitles-1/all.vtt': Buffer.from('WEBVTT\n'),
  'thumbnails/001.jpg': noise(90),
  'empty.bin': Buffer.alloc(0),
};

const types: Record<keyof typeof film, string> = {
  'master.m3u8': 'application/vnd.apple.mpegurl',
  'manifest.mpd': 'application/dash+xml',
  '360p/init.mp4': 'video/mp4',
  '360p/00001.m4s': 'video/iso.segment',
  '360p/00002.m4s': 'video/iso.segment',
  'subtitles-1/all.vtt': 'text/vtt',
  'thumbnails/001.jpg': 'image/jpeg',
  'empty.bin': 'application/octet-stream',
};

async function expectFilm(prefix: string): Promise<void> {
  expect(await keysBelow(prefix)).toEqual(
    Object.keys(film)
      .map((name) => `${prefix}${name}`)
      .sort(),
  );
  for (const [name, content] of Object.entries(film)) {
    const { Body, ContentType } = await store.client.send(
      new GetObjectCommand({ Bucket: store.bucket, Key: `${prefix}${name}` }),
    );
    const stored = Buffer.from((await Body?.transformToByteArray()) ?? []);
    expect([name, stored.equals(content), ContentType]).toEqual([name, true, types[name as keyof typeof film]]);
  }
}

describe('An export with extract', () => {
  it('stores the files of a ZIP below the prefix with their media types, and keeps the ZIP', async () => {
    const zip = await zipOf(film);
    const { files, details } = await exporting(zip, { key_prefix: 'films/one/' });
    await expectFilm('films/one/');
    expect(details).toEqual({
      locations: [{ filename: 'film.zip', size: zip.length, location: 's3://customer/films/one/' }],
    });
    const [kept] = files;
    expect(kept && (await own.read(kept)).equals(zip)).toBe(true);
  });

  it('resumes over a link that drops', async () => {
    await using link = await openToxicLink(store.port, { after: 5_000_000, direction: 'up', times: 1 });
    await exporting(await zipOf(film), { key_prefix: 'films/two/' }, link.port);
    expect(link.cuts).toBe(1);
    await expectFilm('films/two/');
  });

  it.each([
    ['leads out of the prefix', '../x'],
    ['is absolute', '/etc'],
    ['has an empty part', 'a//b'],
    ['is hidden', 'a/.b'],
    ['has a control character', 'a\u0007bc'],
    ['differs from another only in case', 'OK.A'],
  ])('refuses a name that %s, before anything is stored', async (_what, name) => {
    const placeholder = '#'.repeat(name.length);
    const zip = await zipOf({ 'ok.a': noise(10), [placeholder]: noise(10) });
    const hostile = Buffer.from(zip.toString('latin1').replaceAll(placeholder, name), 'latin1');
    const { msg } = await failureOf(exporting(hostile, { key_prefix: 'hostile/' }));
    expect(msg).toMatch(/cannot be stored safely|with safe names/);
    expect(await keysBelow('hostile/')).toEqual([]);
  });

  it('refuses files that overlap, are compressed, or are not there', async () => {
    const once = await zipOf({ a: noise(1000), b: noise(1000) });
    // The directory says that both contents are as long as the whole ZIP.
    const overlapping = Buffer.from(once);
    for (let at = overlapping.indexOf('PK\x01\x02'); at >= 0; at = overlapping.indexOf('PK\x01\x02', at + 1)) {
      overlapping.writeUInt32LE(once.length - 100, at + 20);
      overlapping.writeUInt32LE(once.length - 100, at + 24);
    }
    const failures = [
      await failureOf(exporting(overlapping, { key_prefix: 'wrong/' })),
      await failureOf(exporting(await zipOf({ a: Buffer.alloc(1000) }, true), { key_prefix: 'wrong/' })),
      await failureOf(exporting(noise(1000), { key_prefix: 'wrong/' })),
      await failureOf(exporting(once, { key: 'wrong/one' })),
    ];
    expect(failures.map(({ msg }) => msg)).toEqual([
      'The files of the ZIP overlap, so it is not extracted.',
      '"a" is compressed or encrypted, but extract takes files that are stored as they are.',
      'The input is not a readable ZIP with safe names, which extract requires.',
      'extract takes a single ZIP and requires key_prefix instead of key.',
    ]);
    expect(await keysBelow('wrong/')).toEqual([]);
  });

  it('fails at a file whose place is not in the ZIP', async () => {
    const zip = await zipOf({ a: noise(1000), b: noise(1000) });
    zip.writeUInt32LE(zip.length - 10, zip.lastIndexOf('PK\x01\x02') + 42);
    const { msg } = await failureOf(exporting(zip, { key_prefix: 'misplaced/' }));
    expect(msg).toBe('The ZIP is damaged: a file is not at its place.');
  });

  it('refuses a ZIP of too many files', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`${index}`, Buffer.alloc(0)]));
    const { msg } = await failureOf(exporting(await zipOf(many), { key_prefix: 'many/' }));
    expect(msg).toContain('The ZIP has 5,001 files; extract stores at most 5,000.');
  });
});
