import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { PartRequest } from '../../../functions/engines/runtime/protocol.ts';
import { pictureSimilarity } from './compare.ts';
import { ffmpeg } from './samples.ts';
import { runPart, surveyOf } from './split-run.ts';
import { streamRules } from './stream-rules.ts';
import { framesOf, joined, makeFilm, mediaList, type Stream, splitStreamOf, streamOf, textOf } from './streams.ts';
import { testFolder } from './work.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

describe('A stream in parts', () => {
  streamRules(splitStreamOf);
});

/** Rates depend on single bits. */
const withoutRates = (text: string) => text.replace(/(?:AVERAGE-)?BANDWIDTH=\d+|bandwidth="\d+"/g, '');
/** So do the positions of key frames in their segments. */
const withoutBytes = (text: string) => text.replace(/#EXT-X-BYTERANGE.*/g, '');

/** Headers declare the rates that the encoder was given or those of the parts, and its name if it wrote them. */
function withoutEncoder(header: Buffer): Buffer {
  const copy = Buffer.from(header);
  const [encoder = -1, rates = -1, sound = -1] = ['Lavc', 'btrt', '@\x15'].map((mark) => copy.indexOf(mark));
  if (encoder > 0) copy.fill(0, encoder - 1, encoder + 31);
  if (rates > 0) copy.fill(0, rates + 4, rates + 16);
  if (sound > 0 && copy.includes('esds')) copy.fill(0, sound + 2, sound + 13);
  return copy;
}

describe.each(['libx264', 'libx265'])('A stream of %s in parts', (video_codec) => {
  let whole: Stream;
  let split: Stream;

  beforeAll(async () => {
    const input = { path: await makeFilm(), format: 'mkv', name: 'film.mkv' };
    const options = {
      renditions: '360,144',
      segment_seconds: 2,
      thumbnail_seconds: 3,
      preset: 'ultrafast',
      video_codec,
    };
    whole = await streamOf(input, options);
    // Two or three segments each.
    split = await splitStreamOf(input, options, 'hls', 3);
  });

  test('has the files, playlists, manifest, headers, sound and subtitles of a whole one', () => {
    const names = [...whole.files.keys()];
    expect([...split.files.keys()]).toEqual(names);
    expect(names.filter((name) => name.startsWith('360p/0'))).toHaveLength(7);
    for (const name of names.filter((each) => /\.(?:m3u8|mpd|vtt)$/.test(each)))
      expect(withoutBytes(withoutRates(textOf(split, name))), name).toBe(
        withoutBytes(withoutRates(textOf(whole, name))),
      );
    const bytes = (stream: Stream, name: string) => withoutEncoder(stream.files.get(name) ?? Buffer.alloc(0));
    const isSame = (name: string) => bytes(whole, name).equals(bytes(split, name));
    const same = names.filter((name) => name.endsWith('/init.mp4') || name.startsWith('audio-'));
    expect(same.length).toBeGreaterThan(15);
    expect(same.filter((name) => !isSame(name))).toEqual([]);
    expect([split.name, split.warnings]).toEqual([whole.name, whole.warnings]);
  });

  test('has every picture at the time of a whole one, and key frames at the same times', async () => {
    for (const name of ['360p', '144p']) {
      const frames = async (stream: Stream) => {
        const uris = mediaList(stream, `${name}/playlist.m3u8`).segments.map(({ uri }) => uri);
        const found = await framesOf(await joined(stream, name, ['init.mp4', ...uris]));
        return found.map(({ key_frame, pts_time }) => [pts_time, key_frame]);
      };
      const expected = await frames(whole);
      expect(expected.length).toBeGreaterThan(380);
      expect(await frames(split)).toEqual(expected);
    }
  });

  test('has the thumbnails of a whole one', async () => {
    const [expected, found] = [whole, split].map(({ files }) => files.get('thumbnails/001.jpg') ?? Buffer.alloc(0));
    const picture = (bytes: Buffer | undefined) => sharp(bytes).png().toBuffer();
    expect(await pictureSimilarity(await picture(found), await picture(expected))).toBeGreaterThan(0.98);
  });
});

describe('Segments are not encoded in parts', () => {
  test.each([
    ['The video is trimmed.', 'mkv', { trim_start: '1' }, []],
    ['The file has no video.', 'mkv', {}, ['-vn', '-c', 'copy']],
    ['avi has no index of its pictures.', 'avi', {}, ['-c:v', 'mpeg4', '-an']],
    [
      'The video has no key frames at the segments between which it could be split.',
      'mkv',
      { segment_seconds: 30 },
      ['-c', 'copy'],
    ],
  ])('if: %s', async (whole, format, options, made) => {
    const path = join(await testFolder(), `source.${format}`);
    await ffmpeg('-i', await makeFilm(), ...made, path);
    const request = { operation: 'convert', source: { path, format }, outputFormat: 'hls', options } as const;
    expect(await surveyOf(request)).toMatchObject({ whole });
  });

  test('of different encodings', async () => {
    const path = await makeFilm();
    const request = { operation: 'convert', source: { path, format: 'mkv' }, outputFormat: 'hls' } as const;
    const chunk = async (index: number, codec: string) => {
      const options = { renditions: '144', video_codec: codec, preset: 'ultrafast' };
      const part = { kind: 'chunk', index, from: index * 6, ...(index === 0 ? { to: 6 } : {}) } as const;
      const { outputs } = await runPart({ ...request, options }, part);
      return { path: outputs[0]?.path ?? '', format: 'mp4' };
    };
    const parts = [await chunk(0, 'libx264'), await chunk(1, 'libx265')];
    const part: PartRequest = { kind: 'join', starts: [0, 6], sound: false };
    await expect(runPart({ ...request, options: { renditions: '144' } }, part, parts)).rejects.toThrow(
      /encoded differently/,
    );
  });
});
