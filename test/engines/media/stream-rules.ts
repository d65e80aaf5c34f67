import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseManifest } from 'mpd-parser';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { pictureSimilarity } from './compare.ts';
import { ffmpeg } from './samples.ts';
import {
  type Frame,
  film,
  framesOf,
  joined,
  makeFilm,
  master,
  mediaList,
  type Stream,
  type streamOf,
  textOf,
} from './streams.ts';
import { testFolder } from './work.ts';

const videos = ['360p', '240p', '144p'];
const sounds = ['audio-1', 'audio-2'];

/** Tests that a conversion of the film keeps the rules of HLS and DASH. */
export function streamRules(convert: typeof streamOf): void {
  let source: string;
  let stream: Stream;

  beforeAll(async () => {
    source = await makeFilm();
    stream = await convert({ path: source, format: 'mkv', name: 'My film.mkv' }, { renditions: '720,240,144' });
  });

  const bytesOf = (folder: string, uri: string) => stream.files.get(`${folder}/${uri}`)?.length ?? Number.NaN;

  /** The definition of RFC 8216: the highest rate of any run of segments of half to one and a half target durations. */
  function peakRate(folder: string): number {
    const { segments, targetDuration } = mediaList(stream, `${folder}/playlist.m3u8`);
    const runs = segments.flatMap((_, from) =>
      segments.slice(from).map((__, to) => segments.slice(from, from + to + 1)),
    );
    const rates = runs.map((run) => {
      const seconds = run.reduce((sum, { duration }) => sum + duration, 0);
      const isCounted = seconds >= targetDuration / 2 && seconds <= targetDuration * 1.5;
      return isCounted ? (run.reduce((sum, { uri }) => sum + bytesOf(folder, uri), 0) * 8) / seconds : 0;
    });
    return Math.max(...rates);
  }

  describe('The ZIP', () => {
    test('is named for the input and stores its files without compression', () => {
      expect(stream.name).toBe('My film.zip');
      expect(stream.warnings).toEqual([]);
      const names = [...stream.files.keys()];
      expect(names.filter((name) => !/^(?:[a-z0-9-]+\/)?[a-z0-9]+\.(?:m3u8|mpd|m4s|mp4|vtt|jpg)$/.test(name))).toEqual(
        [],
      );
      for (const name of names.filter((each) => each.endsWith('.m3u8')))
        for (const [, uri] of textOf(stream, name).matchAll(/^(?!#)(.+)$|URI="([^"]+)"/gm))
          if (uri) expect(names).toContain(join(name, '..', uri));
    });
  });

  describe('The playlist of variants', () => {
    test('offers the height of the source and those below, with all attributes', () => {
      const { variants, independentSegments, version } = master(stream);
      const pictures = variants.filter(({ isIFrameOnly }) => !isIFrameOnly);
      expect({ independentSegments, version }).toEqual({ independentSegments: true, version: 7 });
      expect(pictures.map(({ uri, resolution, frameRate }) => [uri, resolution, frameRate])).toEqual([
        ['360p/playlist.m3u8', { width: 640, height: 360 }, 29.97],
        ['240p/playlist.m3u8', { width: 426, height: 240 }, 29.97],
        ['144p/playlist.m3u8', { width: 256, height: 144 }, 29.97],
      ]);
      for (const { codecs } of pictures) expect(codecs).toMatch(/^avc1\.6400[0-9a-f]{2},mp4a\.40\.2$/);
      expect(variants.filter(({ isIFrameOnly }) => isIFrameOnly).map(({ uri }) => uri)).toEqual(
        videos.map((name) => `${name}/iframes.m3u8`),
      );
    });

    test('names tracks of sound and subtitles by their languages', () => {
      const [variant] = master(stream).variants;
      const tracks = [...(variant?.audio ?? []), ...(variant?.subtitles ?? [])];
      expect(
        tracks.map(({ type, name, language, isDefault, channels }) => [type, name, language, isDefault, channels]),
      ).toEqual([
        ['AUDIO', 'German', 'de', true, '1'],
        ['AUDIO', 'English', 'en', false, '2'],
        ['SUBTITLES', 'English', 'en', false, undefined],
      ]);
    });

    test('declares rates that no run of segments exceeds, and true averages', () => {
      const soundPeak = Math.max(...sounds.map(peakRate));
      for (const variant of master(stream).variants.filter(({ isIFrameOnly }) => !isIFrameOnly)) {
        const folder = variant.uri.split('/')[0] ?? '';
        expect(peakRate(folder) + soundPeak).toBeLessThanOrEqual(variant.bandwidth);
        expect(variant.averageBandwidth).toBeLessThanOrEqual(variant.bandwidth);
        const { segments } = mediaList(stream, `${folder}/playlist.m3u8`);
        const bytes = segments.reduce((sum, { uri }) => sum + bytesOf(folder, uri), 0);
        const average = (bytes * 8) / segments.reduce((sum, { duration }) => sum + duration, 0);
        expect(variant.averageBandwidth).toBeGreaterThan(average);
      }
    });
  });

  describe('Segments', () => {
    test('begin at the same times in all renditions, within a frame of each multiple of their length', () => {
      const times = videos.map((name) =>
        mediaList(stream, `${name}/playlist.m3u8`).segments.map(({ duration }) => duration),
      );
      expect(times).toEqual(videos.map(() => times[0]));
      expect(times[0]).toHaveLength(3);
      for (const name of sounds) {
        const { segments } = mediaList(stream, `${name}/playlist.m3u8`);
        expect(segments.map(({ duration }, at) => Math.abs(duration - (times[0]?.[at] ?? 0)) < 0.05)).toEqual([
          true,
          true,
          true,
        ]);
      }
    });

    test('decode one by one from a key frame, and have every frame of the source once', async () => {
      for (const name of videos) {
        const parts: Frame[][] = [];
        for (const { uri } of mediaList(stream, `${name}/playlist.m3u8`).segments)
          parts.push(await framesOf(await joined(stream, name, ['init.mp4', uri])));
        expect(parts.map(([first]) => [first?.key_frame, first?.pict_type])).toEqual(parts.map(() => [1, 'I']));
        const times = parts.flat().map(({ pts_time }) => Number(pts_time));
        expect(times).toHaveLength(Math.round(film.seconds * film.rate));
        // ffmpeg shows pictures as much later as they wait for their order. The time of a fragment is that of its first picture.
        const [late = 0] = times;
        expect(late).toBeLessThan(0.1);
        expect(Math.max(...times.map((time, at) => Math.abs(time - late - at / film.rate)))).toBeLessThan(0.001);
      }
    });

    test('have key frames at most two seconds apart, which the playlist of key frames lists', async () => {
      for (const name of videos.slice(0, 1)) {
        const { isIFrame, segments } = mediaList(stream, `${name}/iframes.m3u8`);
        expect(isIFrame).toBe(true);
        expect(segments.map(({ duration }) => Math.round(duration))).toEqual([2, 2, 2, 2, 2, 2, 1]);
        for (const { uri, byterange } of segments) {
          const content = stream.files.get(`${name}/${uri}`);
          const { offset = 0, length = 0 } = byterange ?? {};
          const path = join(await testFolder(), 'frame.mp4');
          const frame = content?.subarray(offset, offset + length) ?? Buffer.alloc(0);
          await writeFile(path, Buffer.concat([stream.files.get(`${name}/init.mp4`) ?? Buffer.alloc(0), frame]));
          const frames = await framesOf(path);
          expect(frames.map(({ key_frame }) => key_frame)).toEqual([1]);
        }
      }
    });

    test('keep the sound in step with the pictures', async () => {
      // Act
      const said = await ffmpeg(
        ...[
          '-copyts',
          '-i',
          join(stream.folder, 'audio-1/playlist.m3u8'),
          '-af',
          'silencedetect=noise=-40dB:duration=1',
        ],
        ...['-f', 'null', '-'],
      );

      // Assess
      const [, heard] = /silence_end: ([\d.]+)/.exec(said) ?? [];
      expect(Math.abs(Number(heard) - film.beepAt)).toBeLessThan(0.005);
    });
  });

  describe('Subtitles', () => {
    test('are in each segment in which they are shown, and whole for DASH', () => {
      const { segments } = mediaList(stream, 'subtitles-1/playlist.m3u8');
      const texts = segments.map(({ uri }) => textOf(stream, `subtitles-1/${uri}`));
      expect(texts.map((text) => text.startsWith('WEBVTT\n'))).toEqual([true, true, true]);
      expect(texts.map((text) => [...text.matchAll(/^[A-Z][a-z].*$/gm)].map(([line]) => line))).toEqual([
        ['Hello <i>there</i>', 'Across a seam'],
        ['Across a seam', 'The end'],
        [],
      ]);
      expect(textOf(stream, 'subtitles-1/all.vtt')).toContain('00:05.500 --> 00:06.500\nAcross a seam');
    });
  });

  describe('Thumbnails', () => {
    test('show the picture of their time', async () => {
      // Act
      const index = textOf(stream, 'thumbnails/thumbnails.vtt');
      const cues = [...index.matchAll(/^(\S+) --> (\S+)\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)$/gm)];

      // Assess
      expect(cues.map(([, start, end, name]) => [start, end, name])).toEqual([
        ['00:00:00.000', '00:00:10.000', '001.jpg'],
        ['00:00:10.000', '00:00:13.013', '001.jpg'],
      ]);
      for (const [, start = '', , name, ...area] of cues) {
        const [left = 0, top = 0, width = 0, height = 0] = area.map(Number);
        const sprite = sharp(stream.files.get(`thumbnails/${name}`)).extract({ left, top, width, height });
        const frame = join(await testFolder(), 'frame.png');
        await ffmpeg('-ss', start, '-i', source, '-frames:v', '1', '-vf', `scale=${width}:${height}`, frame);
        const similarity = await pictureSimilarity(await sprite.png().toBuffer(), await sharp(frame).png().toBuffer());
        expect(similarity).toBeGreaterThan(0.95);
      }
    });
  });

  describe('The manifest of DASH', () => {
    test('has the same segments, of the same lengths', () => {
      const manifestUri = 'https://example.com/';
      const { playlists, duration, mediaGroups } = parseManifest(textOf(stream, 'manifest.mpd'), { manifestUri });
      expect(duration).toBeCloseTo(film.seconds, 1);
      expect(playlists.map(({ attributes }) => [attributes.NAME, attributes.RESOLUTION])).toEqual([
        ['360p', { width: 640, height: 360 }],
        ['240p', { width: 426, height: 240 }],
        ['144p', { width: 256, height: 144 }],
      ]);
      const tracks = Object.values(mediaGroups.AUDIO.audio ?? {});
      expect(tracks.map(({ language }) => language)).toEqual(['de', 'en']);
      expect(Object.keys(mediaGroups.SUBTITLES)).toHaveLength(1);
      for (const { attributes, segments } of [...playlists, ...tracks.flatMap((track) => track.playlists)]) {
        const listed = mediaList(stream, `${attributes.NAME}/playlist.m3u8`).segments;
        expect(segments.map(({ resolvedUri }) => resolvedUri.slice(manifestUri.length))).toEqual(
          listed.map(({ uri }) => `${attributes.NAME}/${uri}`),
        );
        for (const [at, segment] of segments.entries())
          expect(segment.duration).toBeCloseTo(listed[at]?.duration ?? 0, 3);
      }
    });
  });
}
