import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, setOptions, types } from 'hls-parser';
import { ffmpeg } from './samples.ts';
import { splitRun } from './split-run.ts';
import { unpack } from './unpack.ts';
import { run, testFolder } from './work.ts';

const execute = promisify(execFile);

/** A converted file, unpacked. */
export interface Stream {
  folder: string;
  /** The files of the ZIP by their names. */
  files: Map<string, Buffer>;
  warnings: string[];
  name: string;
}

/** Converts a file to HLS or DASH and unpacks the result. */
export async function streamOf(
  input: { path: string; format: string; name?: string },
  options: Record<string, unknown> = {},
  outputFormat = 'hls',
): Promise<Stream> {
  const { path, outputs, warnings = [] } = await run('convert', input, outputFormat, options);
  const { folder, files } = await unpack(path);
  return { folder, files, warnings, name: outputs[0]?.name ?? '' };
}

/** Converts a file in parts of at least that many seconds. */
export async function splitStreamOf(
  { path: source, format, name = `video.${format}` }: Parameters<typeof streamOf>[0],
  options: Record<string, unknown> = {},
  outputFormat = 'hls',
  minSeconds = 0,
): Promise<Stream> {
  const request = { operation: 'convert', source: { path: source, format, name }, outputFormat, options } as const;
  const {
    path,
    outputs,
    warnings = [],
    starts,
  } = await splitRun({ ...request, folder: await testFolder() }, minSeconds);
  if (starts.length < 2) throw new Error(`The stream has ${starts.length} parts.`);
  return { ...(await unpack(path)), warnings, name: outputs[0]?.name ?? '' };
}

/** Returns a file of a stream as text. */
export function textOf({ files }: Stream, name: string): string {
  const content = files.get(name);
  if (!content) throw new Error(`Expected ${name} among ${[...files.keys()].join(', ')}.`);
  return content.toString();
}

setOptions({ strictMode: true });

/** Parses the playlist of variants, and throws at whatever the specification does not allow. */
export function master(stream: Stream): types.MasterPlaylist {
  const playlist = parse(textOf(stream, 'master.m3u8'));
  if (!(playlist instanceof types.MasterPlaylist)) throw new Error('It is not a master playlist.');
  return playlist;
}

/** Parses a playlist of segments in the same way. */
export function mediaList(stream: Stream, name: string): types.MediaPlaylist {
  const playlist = parse(textOf(stream, name));
  if (!(playlist instanceof types.MediaPlaylist)) throw new Error(`${name} is not a media playlist.`);
  return playlist;
}

/** Writes parts of a stream one after the other and returns the path of the file. */
export async function joined({ files }: Stream, folder: string, names: string[]): Promise<string> {
  const path = join(await testFolder(), 'joined.mp4');
  const parts = names.map((name) => files.get(`${folder}/${name}`) ?? Buffer.alloc(0));
  await writeFile(path, Buffer.concat(parts));
  return path;
}

export interface Frame {
  key_frame: number;
  pict_type?: string;
  pts_time: string;
}

/** Decodes the frames of a file by ffprobe. */
export async function framesOf(path: string): Promise<Frame[]> {
  const entries = ['-show_entries', 'frame=key_frame,pict_type,pts_time', '-print_format', 'json'];
  const { stdout } = await execute('ffprobe', ['-v', 'error', '-select_streams', '0', ...entries, path], {
    maxBuffer: 2 ** 26,
  });
  const { frames }: { frames: Frame[] } = JSON.parse(stdout);
  return frames;
}

const captions = `1
00:00:01,000 --> 00:00:03,000
Hello <i>there</i>

2
00:00:05,500 --> 00:00:06,500
Across a seam

3
00:00:11,000 --> 00:00:12,000
The end
`;

/** Seconds of the film below, its times of a beep, and its frames per second. */
export const film = { seconds: 13, beepAt: 5, rate: 30_000 / 1001 };

/** Makes a video at a television rate with open groups of pictures, two sound tracks and subtitles. */
export async function makeFilm(): Promise<string> {
  const folder = await testFolder();
  await writeFile(join(folder, 'captions.srt'), captions);
  const path = join(folder, 'film.mkv');
  const beep = `aevalsrc='if(between(t,${film.beepAt},${film.beepAt}.5),sin(2764*t),0)':s=48000:d=${film.seconds}`;
  await ffmpeg(
    ...['-f', 'lavfi', '-i', `testsrc2=size=640x360:rate=30000/1001:duration=${film.seconds}`],
    ...['-f', 'lavfi', '-i', beep],
    ...['-f', 'lavfi', '-i', `sine=880:sample_rate=44100:duration=${film.seconds}`],
    ...['-i', join(folder, 'captions.srt')],
    ...['-map', '0', '-map', '1', '-map', '2', '-map', '3'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '50', '-x264-params', 'open-gop=1'],
    ...['-c:a:0', 'pcm_s16le', '-c:a:1', 'flac', '-ac:a:1', '6', '-c:s', 'srt'],
    ...['-metadata:s:a:0', 'language=ger', '-metadata:s:a:1', 'language=eng', '-metadata:s:s:0', 'language=eng'],
    path,
  );
  return path;
}
