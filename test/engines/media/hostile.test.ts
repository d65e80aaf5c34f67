import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { processorSeconds } from '../../support/processor-time.ts';
import { facts, listen } from './compare.ts';
import { ffmpeg, makeSample } from './samples.ts';
import { run, testFolder } from './work.ts';

// Each test runs programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
/** A file outside the task that an attacker would like to see in the output. */
let secret: string;
let asked: string[];
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.end();
});
let address: string;

beforeAll(async () => {
  folder = await testFolder();
  secret = await makeSample('ts', folder);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  address = typeof at === 'object' && at ? `http://127.0.0.1:${at.port}` : '';
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function fileOf(name: string, text: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

async function refusal(path: string, format: string, to: string): Promise<EngineError> {
  const started = processorSeconds();
  const error = await run('convert', { path, format }, to).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EngineError);
  expect(processorSeconds() - started).toBeLessThan(20);
  return error instanceof EngineError ? error : new EngineError('');
}

const playlists: [string, () => string][] = [
  [
    'an HLS playlist of a local file',
    () => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://${secret}\n#EXT-X-ENDLIST\n`,
  ],
  [
    'an HLS playlist of an address',
    () => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${address}/a.ts\n#EXT-X-ENDLIST\n`,
  ],
  [
    'an HLS key at an address',
    () => `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${address}/key"\n#EXTINF:1,\n${secret}\n#EXT-X-ENDLIST\n`,
  ],
  ['a concat list', () => `ffconcat version 1.0\nfile ${secret}\n`],
  [
    'a DASH manifest',
    () =>
      `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="video/mp2t"><Representation id="1" bandwidth="1"><BaseURL>${address}/a.ts</BaseURL></Representation></AdaptationSet></Period></MPD>`,
  ],
  [
    'a session description',
    () =>
      `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n`,
  ],
  [
    'a smooth list of subtitles',
    () =>
      `[Script Info]\nScriptType: v4.00+\n\n[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,,,0,0,0,,{\\fn${secret}}x\n`,
  ],
];
const names = ['mp4', 'mkv', 'avi', 'ts', 'mp3', 'wav', 'gif', 'mxf', 'h264', 'aac'];

describe.each(playlists)('%s under a media name', (_, text) => {
  test('opens no other file and no connection, whatever it claims to be', async () => {
    const path = await fileOf('playlist', text());
    for (const format of names) {
      // Files without a media signature go by their name, so each reader has to withstand them.
      const sound = ['mp3', 'wav', 'aac'].includes(format);
      const error = await refusal(path, format, sound ? 'wav' : 'mp4');
      expect(error.message).toMatch(/damaged|not supported|no audio|no video|Nothing/);
    }
    expect(asked).toEqual([]);
  });
});

test('A QuickTime file that refers to another file gets nothing from it', async () => {
  // Prepare: a data reference with a path instead of the file's own data.
  const own = join(folder, 'own.mov');
  await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'pcm_s16le', own);
  const bytes = await readFile(own);
  const at = bytes.indexOf('url ', bytes.indexOf('dref'));
  bytes.write('alis', at, 'latin1');
  bytes.writeUInt32BE(0, at + 4);

  // Act
  const result = await run('convert', { path: await fileOf('alias.mov', bytes), format: 'mov' }, 'wav').catch(
    (reason: unknown) => reason,
  );

  // Assess: its own data at most.
  if (result instanceof Error) expect(result).toBeInstanceOf(EngineError);
  expect(asked).toEqual([]);
});

test('Subtitles that are a playlist are drawn as words, not opened', async () => {
  const text = await fileOf(
    'words.srt',
    `1\n00:00:00,000 --> 00:00:01,000\n#EXTM3U file://${secret} ${address}/subtitle\n`,
  );
  const path = join(folder, 'words.mkv');
  await ffmpeg('-f', 'lavfi', '-i', 'color=black:size=320x240:duration=1', '-i', text, '-c:s', 'ass', path);

  const made = await run('convert', { path, format: 'mkv' }, 'mp4', { subtitles_mode: 'hard' });

  expect((await facts(made.path)).video?.width).toBe(320);
  expect(asked).toEqual([]);
});

test('A thousand streams are refused', async () => {
  // A program map of a transport stream may name more streams than any video has.
  const path = join(folder, 'streams.nut');
  const maps = Array.from({ length: 200 }, () => ['-map', '0:a']).flat();
  await ffmpeg(
    '-f',
    'lavfi',
    '-i',
    'sine=duration=0.1:sample_rate=8000',
    ...maps,
    '-c:a',
    'pcm_s16le',
    '-f',
    'nut',
    path,
  );

  expect((await refusal(path, 'nut', 'wav')).message).toMatch(/too many streams|damaged/);
});

/** Writes a short FLAC whose header claims another length: 36 bits from the middle of its 14th byte on. */
async function claimingFlac(name: string, rate: number, channels: number, seconds: number): Promise<string> {
  const path = join(folder, name);
  const layout = channels === 8 ? '7.1' : 'mono';
  await ffmpeg('-f', 'lavfi', '-i', `anullsrc=sample_rate=${rate}:channel_layout=${layout}`, '-t', '0.1', path);
  const bytes = await readFile(path);
  bytes[21] = (bytes[21] ?? 0) & 0xf0;
  bytes.writeUInt32BE(rate * seconds, 22);
  await writeFile(path, bytes);
  return path;
}

test('Hours of silence in a kilobyte are refused before they fill the disk', async () => {
  const path = await claimingFlac('silence.flac', 8000, 1, 13 * 3600);

  expect((await refusal(path, 'flac', 'wav')).message).toBe('The file is longer than 12 hours. Split it first.');
});

test('An hour of eight channels is refused if it would be gigabytes uncompressed', async () => {
  const path = await claimingFlac('wide.flac', 192_000, 8, 3600);

  expect((await refusal(path, 'flac', 'wav')).message).toContain('would be larger than 4 GB');
});

test.each([
  ['65535x65535', 'absurd'],
  ['16000x16000', 'too large'],
])('A picture of %s is refused before it is decoded', async (size) => {
  const [width, height] = size.split('x').map(Number);
  // A stream header alone claims the size; no picture follows.
  const path = await fileOf(
    'huge.y4m',
    `YUV4MPEG2 W${width} H${height} F25:1 Ip A1:1 C420jpeg\nFRAME\n${'x'.repeat(10_000)}`,
  );

  expect((await refusal(path, 'y4m', 'mp4')).message).toMatch(
    /the maximum is 7680|larger than 7680|no valid size|damaged/,
  );
});

/** Writes a WebP that shows one small picture over and over, each time for the given delay. */
async function manyTimesWebp(delays: number[]): Promise<Buffer> {
  const chunk = (name: string, content: Uint8Array) => {
    const head = Buffer.alloc(8);
    head.write(name, 'latin1');
    head.writeUInt32LE(content.length, 4);
    return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
  };
  const side = 16;
  const still = await sharp({ create: { width: side, height: side, channels: 3, background: '#c04020' } })
    .webp({ lossless: true })
    .toBuffer();
  const canvas = Buffer.alloc(10);
  canvas[0] = 2;
  canvas.writeUIntLE(side - 1, 4, 3);
  canvas.writeUIntLE(side - 1, 7, 3);
  const frames = delays.map((delay) => {
    const head = Buffer.alloc(16);
    head.writeUIntLE(side - 1, 6, 3);
    head.writeUIntLE(side - 1, 9, 3);
    head.writeUIntLE(delay, 12, 3);
    return chunk('ANMF', Buffer.concat([head, still.subarray(12)]));
  });
  const parts = [Buffer.from('WEBP'), chunk('VP8X', canvas), chunk('ANIM', Buffer.alloc(6)), ...frames];
  return chunk('RIFF', Buffer.concat(parts));
}

/** Writes a GIF of so many pictures of one pixel on a canvas of a size. */
function manyTimesGif(width: number, height: number, count: number): Buffer {
  const header = Buffer.from('GIF89a    \x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  header.writeUInt16LE(width, 6);
  header.writeUInt16LE(height, 8);
  const delay = Buffer.from('\x21\xf9\x04\0\x04\0\0\0', 'latin1');
  const pixel = Buffer.from('\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1');
  return Buffer.concat([
    header,
    ...Array.from({ length: count }, () => Buffer.concat([delay, pixel])),
    Buffer.from(';'),
  ]);
}

test.each([
  ['webp', async () => fileOf('many.webp', await manyTimesWebp(Array.from({ length: 100_000 }, () => 40)))],
  ['gif', () => fileOf('many.gif', manyTimesGif(16, 16, 10_001))],
  [
    'apng',
    async () => {
      const path = join(folder, 'many.apng');
      await ffmpeg('-f', 'lavfi', '-i', 'color=size=16x16:rate=100:duration=101', '-f', 'apng', path);
      return path;
    },
  ],
])('A %s of more pictures than are converted is refused before they are decoded', async (format, make) => {
  expect((await refusal(await make(), format, 'mp4')).message).toBe(
    'The animation has more than 10000 frames, which is the maximum. Split it first.',
  );
});

test('A GIF of small pictures on a huge canvas is refused by the pixels of all of them', async () => {
  const path = await fileOf('wide.gif', manyTimesGif(7680, 4320, 200));

  expect((await refusal(path, 'gif', 'mp4')).message).toBe(
    'The 200 frames of the animation have more than 5000 million pixels in total. Scale it down or trim it first.',
  );
});

test('A WebP that is shown for hours is refused, not cut', async () => {
  const path = await fileOf('slow.webp', await manyTimesWebp([20, 3_600_000]));

  expect((await refusal(path, 'webp', 'mp4')).message).toMatch(/^The animation lasts 3600 seconds at 50 frames/);
});

test('Hundreds of small pictures are still a video', async () => {
  const path = await fileOf('some.webp', await manyTimesWebp(Array.from({ length: 500 }, () => 40)));

  const made = await run('convert', { path, format: 'webp' }, 'mp4');

  expect((await facts(made.path)).seconds).toBeCloseTo(20, 1);
});

test('An absurd frame rate is refused', async () => {
  const frame = `FRAME\n${'\x80'.repeat(96)}`;
  const path = await fileOf(
    'fast.y4m',
    Buffer.from(`YUV4MPEG2 W8 H8 F1000000:1 Ip A1:1 C420jpeg\n${frame.repeat(50)}`, 'latin1'),
  );

  expect((await refusal(path, 'y4m', 'mp4')).message).toMatch(/frames per second; the maximum is 300/);
});

test('A name full of patterns and options changes nothing', async () => {
  const path = await makeSample('wav', folder);

  const { outputs } = await run('convert', { path, format: 'wav', name: '-i %03d:http|x\u202e.wav' }, 'mp3');

  expect(outputs[0]?.name.endsWith('.mp3')).toBe(true);
  expect((await listen(outputs[0]?.path ?? '')).tone).toBeGreaterThan(0.9);
});

test('The engine still works afterwards', async () => {
  const { path } = await run('convert', { path: await makeSample('mp4', folder), format: 'mp4' }, 'webm');

  expect((await facts(path)).video?.codec).toBe('vp9');
});
