import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ffmpegPath, ffprobePath } from '../../functions/engines/media/programs.ts';

const run = promisify(execFile);

/** Makes a video of a few megabytes with sound that is split if parts take a second; its keyframes are a second apart. */
export async function longVideo(folder: string, seconds = 36, name = 'long.mkv'): Promise<string> {
  const path = join(folder, name);
  await run(ffmpegPath(), [
    ...['-y', '-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=640x360:rate=25:duration=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=440:sample_rate=48000:duration=${seconds}`],
    ...['-vf', 'noise=alls=20:allf=t', '-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '18', '-g', '25'],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', path],
  ]);
  return path;
}

/** Returns the tasks of a job that converts a posted video, and encodes it again. */
export function splitVideo() {
  return {
    upload: { operation: 'import/upload' },
    convert: {
      operation: 'convert',
      input: 'upload',
      output_format: 'mp4',
      options: { video_codec: 'libx264', preset: 'veryfast', video_crf: 30 },
    },
  };
}

/** Returns a hash of each decoded picture of a video. */
export async function picturesOf(path: string): Promise<string[]> {
  const { stdout } = await run(ffmpegPath(), [
    ...['-v', 'error', '-i', path, '-map', '0:v:0', '-fps_mode', 'passthrough', '-f', 'framemd5', '-'],
  ]);
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.split(/,\s*/).at(-1) ?? '');
}

/** Reads what a player would find: the number of decoded pictures, the duration and the kinds of streams. */
export async function videoFacts(path: string): Promise<{ frames: number; seconds: number; streams: string[] }> {
  const { stdout } = await run(ffprobePath(), [
    ...['-v', 'error', '-count_frames', '-show_entries', 'stream=codec_type,nb_read_frames:format=duration'],
    ...['-of', 'json', path],
  ]);
  const {
    streams,
    format,
  }: { streams: { codec_type: string; nb_read_frames: string }[]; format: { duration: string } } = JSON.parse(stdout);
  return {
    frames: Number(streams[0]?.nb_read_frames),
    seconds: Number(format.duration),
    streams: streams.map(({ codec_type }) => codec_type),
  };
}
