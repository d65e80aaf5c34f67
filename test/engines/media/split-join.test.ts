import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ffmpegPath } from '../../../functions/engines/media/programs.ts';
import type { EngineRequest, EngineResponse, PartRequest } from '../../../functions/engines/runtime/protocol.ts';
import { partsOf, planOf } from '../../../functions/worker/split/plan-parts.ts';
import { leaveToBreadth } from '../../support/breadth.ts';
import { descendantsOf } from '../../support/processes.ts';
import { until } from '../../support/until.ts';
import { ffmpeg } from './samples.ts';
import { runPart, type SplitRequest, surveyOf } from './split-run.ts';
import { testFolder } from './work.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const execute = promisify(execFile);
const partBytes = 5 * 1024 ** 2;
const mediaRun = new URL('../../../functions/engines/media/run.ts', import.meta.url);
const host = fileURLToPath(new URL('../../support/engine-host.ts', import.meta.url));

type Part = SplitRequest['source'];

/** A video of 35 MB, its parts, and the file that they are joined to when all of them are there. */
interface Sample {
  request: SplitRequest;
  starts: number[];
  parts: Part[];
  whole: string;
}

let folder: string;
let source: string;
const samples = new Map<string, Promise<Sample>>();

beforeAll(async () => {
  folder = await testFolder();
  source = join(folder, 'source.mp4');
  await ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25:duration=9,noise=alls=60:allf=t'],
    ...['-f', 'lavfi', '-i', 'sine=440:sample_rate=48000:duration=9', '-metadata', 'title=Noise'],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-b:v',
      '32M',
      '-g',
      '25',
      '-pix_fmt',
      'yuv420p',
      '-c:a',
      'aac',
      source,
    ],
  );
});

async function makeSample(outputFormat: string): Promise<Sample> {
  const options = { video_codec: 'libx264', preset: 'ultrafast', video_crf: 12 };
  const request: SplitRequest = {
    ...({ operation: 'convert', source: { path: source, format: 'mp4' } } as const),
    ...{ outputFormat, options, folder },
  };
  const survey = await surveyOf(request);
  const plan = planOf(
    survey,
    0,
    (survey.boundaries ?? []).filter((time) => time > 0.9 && time < 8.1),
  );
  const made = new Map<string, Part>();
  for (const part of partsOf(plan)) {
    const [output] = (await runPart(request, part.request)).outputs;
    if (output) made.set(part.name, output);
  }
  const starts = plan.chunks.map(({ from }) => from);
  const parts = [...starts.map((_, index) => `c${index}`), 'sound'].flatMap((name) => made.get(name) ?? []);
  const joined = await runPart(request, { kind: 'join', starts, sound: true }, parts);
  return { request, starts, parts, whole: joined.outputs[0]?.path ?? '' };
}

/** Stands for the bucket. */
let store: Server;
let origin: string;
let inputs: string[];
/** Inputs that arrive when they are released. */
let held: Map<number, PromiseWithResolvers<void>>;
let stored: Map<string, Buffer>;
let isRevoked: boolean;
let refused: string | undefined;
let engine: ChildProcess | undefined;

beforeEach(async () => {
  [inputs, held, stored, isRevoked, refused] = [[], new Map(), new Map(), false, undefined];
  store = createServer(async (req, res) => {
    const [, kind = '', name = ''] = (req.url ?? '').split('/');
    if (kind === 'revoked') res.writeHead(isRevoked ? 200 : 404).end();
    else if (kind === 'in') {
      await held.get(Number(name))?.promise;
      const path = inputs[Number(name)] ?? '';
      res.writeHead(200, { 'content-length': (await stat(path)).size });
      createReadStream(path).pipe(res);
    } else {
      // An engine that ends breaks off.
      const content = await buffer(req).catch(() => undefined);
      if (name === refused || !content) return void res.writeHead(403).end();
      stored.set(name, content);
      res.writeHead(200, { etag: `"${name}"` }).end();
    }
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
});

afterEach(async () => {
  engine?.kill('SIGKILL');
  for (const { resolve } of held.values()) resolve();
  store.closeAllConnections();
  await new Promise((resolve) => store.close(resolve));
});

/** Has the function of the engine join parts. Returns the last line of its response. */
async function joined({ request, starts, parts }: Sample): Promise<EngineResponse> {
  const files = [request.source, ...parts];
  inputs = files.map(({ path }) => path);
  const part: PartRequest = { kind: 'join', starts, sound: true };
  const event: EngineRequest = {
    ...{ taskId: '1', attempt: 1, tenant: 'one', operation: request.operation, part },
    ...{ outputFormat: request.outputFormat, options: { ...request.options, subtitles_mode: 'soft' } },
    inputs: await Promise.all(
      files.map(async ({ path, format }, index) => {
        const { size } = await stat(path);
        return { url: `${origin}/in/${index}`, name: `video.${format}`, format, size };
      }),
    ),
    output: { url: `${origin}/form/form`, fields: {}, prefix: 'run/' },
    large: {
      overBytes: partBytes,
      partBytes,
      parts: Array.from({ length: 20 }, (_, index) => `${origin}/part/${index + 1}`),
      rest: `${origin}/part/rest`,
      front: `${origin}/part/front`,
    },
    maxOutputBytes: 1e9,
    revoked: `${origin}/revoked`,
    deadline: Date.now() + 250_000,
  };
  const child = spawn(process.execPath, [host, mediaRun.href], {
    env: { ...process.env, POWERTOOLS_DEV: 'true', POWERTOOLS_LOG_LEVEL: 'SILENT' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  engine = child;
  child.stdin.end(JSON.stringify(event));
  const lines = (await text(child.stdout)).trim().split('\n');
  return JSON.parse(lines.at(-1) ?? '');
}

function sampleOf(format: string): Promise<Sample> {
  const sample = samples.get(format) ?? makeSample(format);
  samples.set(format, sample);
  return sample;
}

function hold(index: number): void {
  held.set(index, Promise.withResolvers());
}

/** Returns the file of the parts that a response names. */
function assembled(response: EngineResponse): Buffer {
  const [output] = response.type === 'done' ? response.outputs : [];
  if (!output || !('parts' in output)) throw new Error(JSON.stringify(response));
  return Buffer.concat(output.parts.map((tag) => stored.get(JSON.parse(tag)) ?? Buffer.from('missing')));
}

/** Returns a hash of each packet with its times. */
async function packetsOf(path: string): Promise<string> {
  const copying = ['-map', '0', '-c', 'copy', '-f', 'framemd5', '-'];
  const { stdout } = await execute(ffmpegPath(), ['-v', 'error', '-i', path, ...copying], { maxBuffer: 1e8 });
  return stdout;
}

leaveToBreadth(['as mov, with the same file as result']);

describe('A join reads chunks while they arrive and stores its output while it writes it', () => {
  test.each(['mp4', 'mov', 'mkv'])('as %s, with the same file as result', async (format) => {
    const sample = await sampleOf(format);
    const last = sample.starts.length;
    hold(last);
    const response = joined(sample);
    await until('a part is stored', async () => stored.has('2'), { seconds: 200 });
    expect(stored.has('front')).toBe(false);
    held.get(last)?.resolve();

    const file = assembled(await response);
    const whole = await readFile(sample.whole);
    expect(file.length).toBe(whole.length);
    expect(stored.size).toBeGreaterThan(3);
    if (format !== 'mkv') return expect(file.equals(whole)).toBe(true);
    // Matroska has a random identifier.
    const path = join(folder, 'assembled.mkv');
    await writeFile(path, file);
    expect(await packetsOf(path)).toBe(await packetsOf(sample.whole));
  });
});

test('A join stores Matroska with attachments at its end, because they are at its front', async () => {
  const { request, ...sample } = await sampleOf('mkv');
  const path = join(folder, 'attached.mkv');
  const font = join(folder, 'font.ttf');
  await writeFile(font, randomBytes(9 * 1024 ** 2));
  await ffmpeg('-i', source, '-c', 'copy', '-attach', font, '-metadata:s:t', 'mimetype=font/ttf', path);

  const response = await joined({ ...sample, request: { ...request, source: { path, format: 'mkv' } } });

  expect([...stored.keys()]).not.toContain('front');
  expect(assembled(response).includes(await readFile(font))).toBe(true);
});

describe('A join that stores early ends as any other', () => {
  test('if a chunk in the middle is broken', async () => {
    const sample = await sampleOf('mp4');
    const broken = join(folder, 'broken.mp4');
    const content = await readFile(sample.parts[4]?.path ?? '');
    await writeFile(broken, content.subarray(0, content.length / 2));
    const parts = sample.parts.map((part, index) => (index === 4 ? { ...part, path: broken } : part));

    expect(await joined({ ...sample, parts })).toMatchObject({
      type: 'refused',
      msg: 'The file could not be read as mp4: it is damaged or incomplete.',
    });
  });

  test('if a chunk in the middle was encoded differently', async () => {
    const sample = await sampleOf('mp4');
    const other = join(folder, 'other.mp4');
    const smaller = ['-vf', 'scale=320:180', '-c:v', 'libx264', '-preset', 'ultrafast', '-copyts'];
    await ffmpeg('-i', sample.parts[4]?.path ?? '', ...smaller, other);
    const parts = sample.parts.map((part, index) => (index === 4 ? { ...part, path: other } : part));

    expect(await joined({ ...sample, parts })).toMatchObject({
      type: 'refused',
      msg: 'The parts of the video were encoded differently and cannot be joined.',
    });
  });

  test('if it is revoked while it waits for a chunk', async () => {
    const sample = await sampleOf('mp4');
    hold(sample.starts.length);
    const response = joined(sample);
    await until('a part is stored', async () => stored.has('2'), { seconds: 200 });
    const programs = async () =>
      (await descendantsOf(engine?.pid ?? 0)).filter(({ command }) => command.startsWith(`${ffmpegPath()} `));
    expect(await programs()).not.toEqual([]);
    isRevoked = true;

    expect(await response).toMatchObject({ type: 'broken', message: expect.stringContaining('The run was revoked.') });
    expect(stored.has('front')).toBe(false);
  });

  test('if a chunk cannot be fetched', async () => {
    const sample = await sampleOf('mp4');
    const last = sample.starts.length;
    hold(last);
    const response = joined(sample);
    await until('a part is stored', async () => stored.has('2'), { seconds: 200 });
    inputs[last] = source;
    held.get(last)?.resolve();

    const message = expect.stringContaining(`Expected input ${last} of`);
    expect(await response).toMatchObject({ type: 'broken', message });
  });

  test('if a part cannot be stored', async () => {
    refused = '3';

    expect(await joined(await sampleOf('mp4'))).toMatchObject({
      type: 'broken',
      message: expect.stringContaining('S3 responded with status 403'),
    });
  });
});
