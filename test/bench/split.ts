import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { catalogue } from '../../functions/engines/media/catalogue.ts';
import { ffmpegPath, ffprobePath } from '../../functions/engines/media/programs.ts';
import { engine } from '../../functions/engines/media/run.ts';
import type { Work } from '../../functions/engines/runtime/engine.ts';
import { sandboxProcesses } from '../../functions/engines/runtime/sandbox/processes.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../shared/catalogue/options.ts';
import { splitRun } from '../engines/media/split-run.ts';
import type { TaskView } from '../support/client.ts';
import { measureProcesses } from '../support/processor-time.ts';
import { startService } from '../support/running-stack.ts';
import { quietContext } from '../support/sandboxed.ts';
import { ffmpeg } from './ffmpeg-cost.ts';
import { formatTable, timed } from './table.ts';
import { uploadByForm } from './upload.ts';

const run = promisify(execFile);

const framesPerSecond = 25;
/** Maximum processor time of all parts, in terms of one ffmpeg. */
const maxRatio = 1.1;
/** The pictures are encoded again, because a quality is requested. */
const options = { video_codec: 'libx264', video_crf: 23 };
const sampleMs = 100;

interface Cost {
  wallSeconds: number;
  cpuSeconds: number;
  /** The share of ffmpeg and ffprobe. */
  programSeconds: number;
}

/** Converts a video by one ffmpeg and in parts, by a service or by the engine in this process, and compares the costs. */
export async function benchSplit(
  seconds: number,
  { height, inProcess }: { height: number; inProcess: boolean },
): Promise<{ report: string; passed: boolean }> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bench-split-'));
  const folder = temporary.path;
  const source = await makeSource(folder, seconds, height);
  const whole = await wholeRun(source, folder);
  const bare = await costOf(() => runPlainly(whole.args));
  const split = inProcess
    ? await splitInProcess(source, folder, seconds)
    : await splitByService(source, folder, seconds);
  const [made, wanted] = [await factsOf(split.path), await factsOf(whole.path)];
  if (made.pictures !== wanted.pictures || Math.abs(made.seconds - wanted.seconds) > 0.5 / framesPerSecond)
    throw new Error(`Expected ${JSON.stringify(wanted)} but the parts make ${JSON.stringify(made)}.`);
  const ratio = split.cost.cpuSeconds / bare.cpuSeconds;
  const row = (name: string, { wallSeconds, cpuSeconds, programSeconds }: Cost) => [
    name,
    ...[wallSeconds, cpuSeconds, programSeconds].map((value) => `${value.toFixed(1)} s`),
    `${(cpuSeconds / bare.cpuSeconds).toFixed(3)}×`,
  ];
  const passed = ratio <= maxRatio;
  return {
    report: [
      formatTable(
        ['', 'wall', 'processor', 'of it ffmpeg', 'ratio'],
        [row('one ffmpeg', bare), row(`${split.parts} parts, ${split.by}`, split.cost)],
      ),
      '',
      `Both have ${made.pictures} pictures in ${made.seconds.toFixed(2)} seconds. Processor time: ${ratio.toFixed(3)} times that of one ffmpeg (at most ${maxRatio}): ${passed ? 'passed' : 'failed'}.`,
    ].join('\n'),
    passed,
  };
}

/** Makes a video with moving shapes and the noise of a sensor, as cameras and recorders write it: H.264 and AAC. */
async function makeSource(folder: string, seconds: number, height: number): Promise<string> {
  const path = join(folder, 'source.mp4');
  await ffmpeg([
    ...[
      '-f',
      'lavfi',
      '-i',
      `testsrc2=size=${(height * 16) / 9}x${height}:rate=${framesPerSecond}:duration=${seconds}`,
    ],
    ...['-f', 'lavfi', '-i', `anoisesrc=color=pink:amplitude=0.2:sample_rate=48000:duration=${seconds}`],
    ...['-vf', 'noise=alls=7:allf=t', '-c:v', 'libx264', '-preset', 'superfast', '-b:v', '8M'],
    ...['-maxrate', '12M', '-bufsize', '16M', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-ac', '2', '-b:a', '128k'],
    path,
  ]);
  return path;
}

/**
 * Returns the arguments with which a whole run of the engine calls ffmpeg, and the path of its output. The engine calls a
 * program that notes its arguments and fails.
 */
async function wholeRun(source: string, folder: string): Promise<{ args: string[]; path: string }> {
  const noted = join(folder, 'arguments');
  const recorder = join(folder, 'recorder');
  // Only the first call counts: after its failure, the engine tries without copying the sound.
  await writeFile(recorder, `#!/bin/sh\nset -C\nprintf '%s\\0' "$@" > '${noted}'\nexit 1\n`, { mode: 0o755 });
  const own = join(folder, 'whole');
  await mkdir(own);
  const capability = new Catalogue([catalogue]).find('convert', 'mp4', 'mp4')?.capability;
  const { values, errors } = checkOptions(capability?.options ?? [], options);
  if (Object.keys(errors).length > 0) throw new Error(JSON.stringify(errors));
  const { LATHE_FFMPEG: before } = process.env;
  process.env.LATHE_FFMPEG = recorder;
  try {
    const work: Work = {
      operation: 'convert',
      inputs: [{ path: source, name: 'source.mp4', format: 'mp4', size: (await stat(source)).size }],
      outputFormat: 'mp4',
      options: values,
      folder: own,
      // Enough for the preset that the parts have on any machine.
      deadline: Date.now() + 1e9,
    };
    const failure = await engine.run(work, quietContext()).then(
      () => undefined,
      (error: unknown) => error,
    );
    const args = (await readFile(noted, 'utf8').catch(() => '')).split('\0').slice(0, -1);
    const path = args.at(-1);
    if (path === undefined) throw new Error('The engine did not call ffmpeg.', { cause: failure });
    return { args, path };
  } finally {
    if (before === undefined) delete process.env.LATHE_FFMPEG;
    else process.env.LATHE_FFMPEG = before;
  }
}

async function runPlainly(args: string[]): Promise<void> {
  const child = spawn(ffmpegPath(), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`ffmpeg ended with code ${code}: ${args.join(' ')}`);
}

interface SplitCost {
  by: string;
  cost: Cost;
  parts: number;
  path: string;
}

/** Runs the parts one after the other in this process, with chunks of a minute, or a sixth of a shorter video. */
async function splitInProcess(source: string, folder: string, seconds: number): Promise<SplitCost> {
  const request = {
    operation: 'convert',
    source: { path: source, format: 'mp4' },
    outputFormat: 'mp4',
    options,
    folder,
  } as const;
  let result: Awaited<ReturnType<typeof splitRun>> | undefined;
  const cost = await costOf(async () => {
    result = await splitRun(request, Math.min(60, seconds / 6));
  });
  if (!result) throw new Error('The run has no result.');
  return { by: 'by the engine', cost, parts: result.starts.length, path: result.path };
}

/** Runs the parts by a service from the end of the upload to the end of the task, and counts everything that it runs. */
async function splitByService(source: string, folder: string, seconds: number): Promise<SplitCost> {
  // As by default for ten minutes or more. Shorter videos have shorter parts, so that there are several.
  const splitSeconds = Math.max(1, Math.min(30, Math.floor(seconds / 20)));
  await using service = await startService({
    LATHE_SPLIT_SECONDS: String(splitSeconds),
    LATHE_MAX_FILE_BYTES: String((await stat(source)).size),
  });
  const input = await uploadByForm(service.client, source);
  let task: TaskView | undefined;
  const cost = await costOf(async () => {
    const { id } = await service.client.createTask('convert', { input, output_format: 'mp4', options });
    // Each poll is work for the service.
    task = await service.client.waitForTask(id, { seconds: 60 + 20 * seconds, everyMs: 5 * seconds });
  });
  const { url, estimate } = task?.result ?? {};
  if (task?.status !== 'completed' || !url) throw new Error(`Expected a completed task: ${JSON.stringify(task)}`);
  if (!estimate?.parts) throw new Error(`The video was not split: ${JSON.stringify(task.result)}`);
  const path = join(folder, 'split.mp4');
  await run('curl', ['-sfL', '-o', path, url]);
  return { by: 'by a service', cost, parts: estimate.parts, path };
}

/** Measures what all processes below this one cost while work is done. */
async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const programs = new Map<string, number>();
  const names = new Map<string, string>();
  const sample = () => {
    for (const { pid, started, ownSeconds } of sandboxProcesses(process.pid)) {
      const id = `${pid} ${started}`;
      const name = names.get(id) ?? commandOf(pid);
      names.set(id, name);
      if (name === 'ffmpeg' || name === 'ffprobe') programs.set(id, ownSeconds);
    }
  };
  const timer = setInterval(sample, sampleMs);
  let wall = 0;
  try {
    const cpuSeconds = await measureProcesses(async () => {
      wall = await timed(work);
    });
    const programSeconds = [...programs.values()].reduce((sum, seconds) => sum + seconds, 0);
    return { wallSeconds: wall / 1_000, cpuSeconds, programSeconds };
  } finally {
    clearInterval(timer);
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // The process has ended.
    return '';
  }
}

/** Counts the pictures of a video from its packets, and reads its duration. */
async function factsOf(path: string): Promise<{ pictures: number; seconds: number }> {
  const { stdout } = await run(ffprobePath(), [
    ...['-v', 'error', '-select_streams', 'v:0', '-count_packets', '-of', 'json'],
    ...['-show_entries', 'stream=nb_read_packets:format=duration', path],
  ]);
  const { streams, format }: { streams: { nb_read_packets: string }[]; format: { duration: string } } =
    JSON.parse(stdout);
  return { pictures: Number(streams[0]?.nb_read_packets), seconds: Number(format.duration) };
}
