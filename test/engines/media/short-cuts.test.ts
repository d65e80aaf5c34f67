import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { mediaFormat } from '../../../functions/engines/media/formats.ts';
import { secondsOfMp3 } from '../../../functions/engines/media/mp3-frames.ts';
import { probePlainMovie } from '../../../functions/engines/media/plain-movie.ts';
import { type Probe, probeFile } from '../../../functions/engines/media/probe.ts';
import { facts, listen } from './compare.ts';
import { ffmpeg, toneHertz } from './samples.ts';
import { run, testFile, testFolder } from './work.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const tone = ['-f', 'lavfi', '-i', `sine=frequency=${toneHertz}:sample_rate=44100:duration=3,volume=4`];
const pattern = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=25:duration=3'];
const video = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const aac = ['-c:a', 'aac'];

let folder: string;
beforeAll(async () => {
  folder = await testFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

async function make(name: string, ...args: string[]): Promise<string> {
  const path = join(folder, name);
  await ffmpeg(...args, path);
  return path;
}

async function probeBoth(path: string): Promise<{ own: Probe | undefined; ffprobe: Probe }> {
  const context = {
    folder,
    signal: new AbortController().signal,
    timeLimit: () => ({ cores: 1, max: 60, usual: 60 }),
    warn: () => {},
  };
  return {
    own: await probePlainMovie({ path, size: (await stat(path)).size }),
    ffprobe: await probeFile(mediaFormat('mp4'), path, context),
  };
}

/** Leaves out what only ffprobe tells, which conversions to audio do not need. */
function forAudio({ seconds = 0, video, audio, subtitles, cover, moreVideos, attachments, tags }: Probe) {
  const { index, codec, width, height, framesPerSecond } = video ?? {};
  return {
    seconds: seconds.toFixed(1),
    video: { index, codec, width, height, framesPerSecond: framesPerSecond?.toFixed(2) },
    audio: audio.map(({ bitRate: _, ...stream }) => stream),
    ...{ subtitles, cover, moreVideos, attachments, tags },
  };
}

describe('A plain MP4 file', () => {
  test.each<[string, string[]]>([
    ['mono.mp4', [...pattern, ...tone, ...video, ...aac]],
    [
      'stereo-48000.mp4',
      [...pattern, ...tone, ...video, ...aac, '-ac', '2', '-ar', '48000', '-movflags', '+faststart'],
    ],
    ['surround.mp4', [...tone, ...aac, '-ac', '6']],
    ['titled.m4a', [...tone, ...aac, '-metadata', 'title=Tide', '-metadata', 'artist=A', '-metadata', 'date=2001']],
    ['german.mp4', [...tone, ...aac, '-metadata:s:a:0', 'language=deu']],
    ['two-tracks.mp4', [...pattern, ...tone, ...video, ...aac, '-map', '0', '-map', '1', '-map', '1']],
    ['camera.mp4', [...tone, ...aac, '-metadata:s:a:0', 'handler_name=GoPro AAC']],
    ['dated.mp4', [...tone, ...aac, '-metadata', 'creation_time=2020-01-02T03:04:05Z']],
  ])('%s is read as by ffprobe', async (name, args) => {
    const { own, ffprobe } = await probeBoth(await make(name, ...args));

    expect(own && forAudio(own)).toEqual(forAudio(ffprobe));
  });

  test.each<[string, string[]]>([
    ['location.mp4', [...tone, ...aac, '-metadata', 'location=+48.8577+002.295/']],
    ['camera-tags.mp4', [...tone, ...aac, '-movflags', 'use_metadata_tags', '-metadata', 'com.android.model=X']],
    ['fragments.mp4', [...tone, ...aac, '-movflags', 'frag_keyframe+empty_moov']],
    ['quicktime.mov', [...tone, ...aac, '-f', 'mov']],
    ['late.mp4', [...pattern, '-itsoffset', '1', ...tone, ...video, ...aac]],
    ['two-layers.mp4', [...tone, ...aac, '-ar', '22050']],
    ['other-codec.mp4', [...tone, '-c:a', 'ac3']],
    ['silent.mp4', [...pattern, ...video]],
    [
      'protected.mp4',
      [
        ...[...tone, ...aac, '-encryption_scheme', 'cenc-aes-ctr'],
        ...['-encryption_key', '0'.repeat(32), '-encryption_kid', '1'.repeat(32)],
      ],
    ],
  ])('%s is left to ffprobe', async (name, args) => {
    const path = await make(name, ...args);

    expect(await probePlainMovie({ path, size: (await stat(path)).size })).toBeUndefined();
  });

  test('A change of the header of its audio is left to ffprobe, or read as by ffprobe', async () => {
    const whole = await readFile(await make('bytes.mp4', ...tone, ...aac, '-t', '0.2'));
    const entry = whole.indexOf('esds');
    const kept: unknown[] = [];
    for (let at = entry; at < entry + 40; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x18;
      const path = await testFile('changed.mp4', changed);
      if (!(await probePlainMovie({ path, size: changed.length }))) continue;
      const { own, ffprobe } = await probeBoth(path);
      expect(own && forAudio(own), `byte ${at - entry}`).toEqual(forAudio(ffprobe));
      kept.push(own);
    }
    expect(kept.length).toBeLessThan(30);
  });

  test('A file that ends within its index is left to ffprobe', async () => {
    const whole = await readFile(await make('whole.mp4', ...tone, ...aac));
    const cut = whole.subarray(0, whole.length - 100);

    expect(await probePlainMovie({ path: await testFile('cut.mp4', cut), size: cut.length })).toBeUndefined();
  });
});

describe('The frames of an MP3 file', () => {
  test.each<[string, string[]]>([
    ['constant', []],
    ['variable', ['-q:a', '4', '-ac', '2']],
    ['half-rate', ['-ar', '22050']],
    ['quarter-rate', ['-ar', '8000', '-b:a', '24k']],
    ['two-tags', ['-write_id3v1', '1', '-metadata', 'title=Tide']],
    ['headerless', ['-write_xing', '0']],
  ])('%s last as long as ffprobe says', async (name, args) => {
    const path = await make(`${name}.mp3`, ...tone, ...args);

    expect(await secondsOfMp3(path)).toBeCloseTo((await facts(path)).seconds, 1);
  });

  test('are counted in a file that ends early, whose header still declares all of them', async () => {
    const whole = await readFile(await make('all.mp3', ...tone));
    const half = await testFile('half.mp3', whole.subarray(0, whole.length / 2));

    expect(await secondsOfMp3(half)).toBeCloseTo(1.5, 1);
    expect((await facts(half)).seconds).toBeGreaterThan(2.9);
  });

  test('are not counted between other bytes, or in another format', async () => {
    const whole = await readFile(await make('clean.mp3', ...tone));
    const foreign = Buffer.concat([whole.subarray(0, 9000), Buffer.alloc(50), whole.subarray(9000)]);

    expect(await secondsOfMp3(await testFile('foreign.mp3', foreign))).toBeUndefined();
    expect(await secondsOfMp3(await make('audio.aac', ...tone))).toBeUndefined();
    expect(await secondsOfMp3(await make('audio.wav', ...tone))).toBeUndefined();
  });
});

describe('A short conversion', () => {
  /** Replaces a program by a script, which can call the program itself. */
  async function replaceProgram(program: 'ffmpeg' | 'ffprobe', script: string): Promise<void> {
    const path = join(await testFolder(), program);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    vi.stubEnv(`LATHE_${program.toUpperCase()}`, path);
  }

  const lastArgument = 'for last; do :; done';

  test('of MP4 to MP3 starts one program, and keeps the sound', async () => {
    const path = await make('short.mp4', ...pattern, ...tone, ...video, ...aac);
    const log = join(await testFolder(), 'log');
    for (const program of ['ffmpeg', 'ffprobe'] as const)
      await replaceProgram(program, `echo ${program} >> ${log}; exec ${program} "$@"`);

    const { path: made } = await run('convert', { path, format: 'mp4' }, 'mp3');

    expect(await readFile(log, 'utf8')).toBe('ffmpeg\n');
    const { seconds, tone: heard } = await listen(made, 'mp3');
    expect(seconds).toBeCloseTo(3, 1);
    expect(heard).toBeGreaterThan(0.9);
  });

  test.each([
    ['ends early', `${lastArgument}; ffmpeg "$@" && truncate -s 9000 "$last"`, /only 0\.\d of its 3\.0 seconds/],
    ['is empty', `${lastArgument}; ffmpeg "$@" && truncate -s 0 "$last"`, /Nothing in the file could be decoded/],
    [
      'is of another codec',
      `${lastArgument}; ffmpeg "$@" && ffmpeg -v error -y -i "$last" -f adts "$last.2" && mv "$last.2" "$last"`,
      /./,
    ],
    ['has only its tags left', `${lastArgument}; ffmpeg "$@" && truncate -s 300 "$last"`, /./],
  ])('is rejected if its output %s', async (_, script, message) => {
    const path = await make('short-2.mp4', ...tone, ...aac);
    await replaceProgram('ffmpeg', script);

    await expect(run('convert', { path, format: 'mp4' }, 'mp3')).rejects.toThrow(message);
  });
});
