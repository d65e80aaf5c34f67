/**
 * Compares derivatives with those of imgproxy: URLs by its own client, answered by its own program and by the image engine.
 * Needs the path of the program in LATHE_IMGPROXY, and does nothing without it. Its version should be 4.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateImageUrl } from '@imgproxy/imgproxy-node';
import { parsePath, splitPath } from '../../../functions/api/pictures/parse-path.ts';
import { defaultPictureLimits } from '../../../shared/pictures/picture.ts';
import { runDerivation } from '../../engines/image/run-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { type Case, cases } from './cases.ts';
import { colourDifference, decode, similarity } from './similarity.ts';
import { makeSources, sources, watermark } from './sources.ts';

const minSimilarity = 0.97;
/** Of 255. */
const maxColourDifference = 4;
const key = '943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881';
const salt = '520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5';
const limits = { ...defaultPictureLimits, maxAnimationFrames: 100 };

const print = (line: string) => void process.stdout.write(`${line}\n`);

async function startImgproxy(program: string, folder: string) {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const child = spawn(program, [], {
    env: {
      ...process.env,
      IMGPROXY_BIND: `127.0.0.1:${port}`,
      IMGPROXY_KEY: key,
      IMGPROXY_SALT: salt,
      IMGPROXY_LOCAL_FILESYSTEM_ROOT: folder,
      IMGPROXY_WATERMARK_PATH: join(folder, watermark),
      IMGPROXY_MAX_ANIMATION_FRAMES: String(limits.maxAnimationFrames),
      IMGPROXY_AUTO_WEBP: 'true',
      IMGPROXY_AUTO_AVIF: 'true',
      IMGPROXY_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(child, 'exit');
  await until('imgproxy responds', async () => {
    if (child.exitCode !== null) throw new Error(`imgproxy ended with code ${child.exitCode}.`);
    return (await fetch(`${endpoint}/health`).catch(() => undefined))?.ok === true;
  });
  return {
    endpoint,
    async close() {
      child.kill();
      await ended;
    },
  };
}

/** Makes the derivative with the image engine. */
async function ours(url: URL, { source, accept = '' }: Case, folder: string): Promise<Buffer> {
  const { spec } = parsePath(splitPath(url.pathname).path, { limits });
  const inputs = [sources[source], ...(spec.watermark ? [watermark] : [])].map((name) => join(folder, name));
  const { path } = await runDerivation(inputs, { spec, accept }, folder);
  return readFile(path);
}

async function theirs(url: URL, { accept = '*/*' }: Case): Promise<Buffer> {
  const response = await fetch(url, { headers: { accept } });
  const body = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(`imgproxy responded ${response.status}: ${body.toString()}`);
  return body;
}

/** Returns the picture in an icon, which libvips does not read. */
function unwrapped(file: Buffer): Buffer {
  return file.readUInt32LE(0) === 0x1_0000 ? file.subarray(file.readUInt32LE(18)) : file;
}

/** Compares one case and returns the row of the table. */
async function compare(
  each: Case,
  endpoint: string,
  folder: string,
): Promise<{ passed: boolean; row: string; files: Buffer[] }> {
  const url = new URL(
    generateImageUrl({ endpoint, url: `local:///${sources[each.source]}`, options: each.options, key, salt }),
  );
  const files = await Promise.all([theirs(url, each), ours(url, each, folder)]);
  const [expected, actual] = await Promise.all([decode(unwrapped(files[0])), decode(unwrapped(files[1]))]);
  const shape = ({ format, width, height, frames, delays }: typeof expected) =>
    `${format} ${width}×${height}${frames > 1 ? ` ${frames} frames of ${delays?.join(' ')} ms` : ''}`;
  const isSame = shape(expected) === shape(actual);
  const score = isSame ? similarity(expected, actual) : 0;
  const colours = isSame ? colourDifference(expected, actual) : 255;
  const bytes = `${files[1].length}/${files[0].length} B`;
  const difference = isSame ? shape(actual) : `${shape(actual)} instead of ${shape(expected)}`;
  return {
    passed: score >= minSimilarity && colours <= maxColourDifference,
    row: `${score.toFixed(4)} ±${colours.toFixed(1)}  ${difference}  ${bytes}`,
    files,
  };
}

/** Compares all cases and returns the number of failures. Keeps the pictures of failures if asked. */
async function compareAll(program: string, kept: string | undefined): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-imgproxy-'));
  try {
    await makeSources(folder);
    const imgproxy = await startImgproxy(program, folder);
    try {
      let failed = 0;
      for (const [index, each] of cases.entries()) {
        const name = `${String(index + 1).padStart(2)} ${each.source} ${JSON.stringify(each.options)}`;
        const { passed, row, files } = await compare(each, imgproxy.endpoint, folder).catch((error: unknown) => ({
          passed: false,
          row: String(error),
          files: [],
        }));
        print(`${passed ? 'passed' : 'FAILED'}  ${row}  ${name}`);
        if (passed) continue;
        failed += 1;
        if (kept === undefined) continue;
        await mkdir(kept, { recursive: true });
        for (const [at, file] of files.entries())
          await writeFile(join(kept, `${index + 1}-${at === 0 ? 'imgproxy' : 'lathe'}`), file);
      }
      return failed;
    } finally {
      await imgproxy.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const program = process.env.LATHE_IMGPROXY;
if (program === undefined)
  print('Skipped: set LATHE_IMGPROXY to the path of an imgproxy 4 program to compare with it.');
else {
  const failed = await compareAll(program, process.env.LATHE_IMGPROXY_KEEP);
  print(`${cases.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
