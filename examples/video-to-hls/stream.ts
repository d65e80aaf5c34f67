import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Lathe, LatheError } from '@lathe-convert/client';
import { openPromise } from 'yauzl';

const [video, folder] = process.argv.slice(2);
if (!video || !folder) {
  console.error('Usage: node stream.ts <video> <new folder>');
  process.exit(2);
}
const lathe = new Lathe({ url: process.env.LATHE_URL, key: process.env.LATHE_API_KEY });
const interrupted = new AbortController();
// An abort cancels the job, which would otherwise go on and be charged.
process.once('SIGINT', () => interrupted.abort());
process.once('SIGTERM', () => interrupted.abort());

/** Writes the files of a ZIP into a folder. */
async function unzip(path: string, into: string): Promise<void> {
  const zip = await openPromise(path);
  try {
    for await (const entry of zip.eachEntry()) {
      const target = resolve(into, entry.fileName);
      // yauzl refuses such names as well. A program that unpacks files should not depend on it.
      if (relative(into, target).startsWith('..')) throw new Error(`The ZIP has a file outside: ${entry.fileName}`);
      if (entry.fileName.endsWith('/')) continue;
      await mkdir(dirname(target), { recursive: true });
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target));
    }
  } finally {
    zip.close();
  }
}

const temporary = await mkdtemp(join(tmpdir(), 'video-to-hls-'));
try {
  await mkdir(folder);
  let shown = '';
  const { files, warnings } = await lathe.convert(video, {
    to: 'hls',
    options: { renditions: '1080,720,360', segment_seconds: 6 },
    // A job also for short videos: it reports a percentage, and its result is the ZIP.
    instant: false,
    signal: interrupted.signal,
    onProgress: (progress) => {
      const percent =
        progress.stage === 'uploading'
          ? progress.total && Math.floor((100 * progress.loaded) / progress.total)
          : progress.stage === 'processing' && progress.percent;
      const line = `${progress.stage}${percent ? ` ${percent} %` : ''}`;
      if (line !== shown) console.log(line);
      shown = line;
    },
  });
  for (const warning of warnings) console.error(`Warning: ${warning}`);
  const [file] = files;
  if (!file) throw new Error('The conversion has no result.');
  const zip = join(temporary, 'stream.zip');
  await lathe.download(file, zip, { signal: interrupted.signal });
  await unzip(zip, resolve(folder));
  await copyFile(join(import.meta.dirname, 'player.html'), join(folder, 'index.html'));
  await copyFile(fileURLToPath(import.meta.resolve('hls.js/dist/hls.min.js')), join(folder, 'hls.min.js'));
  console.log(`${folder}: ${(await readdir(folder, { recursive: true })).length} files`);
} catch (error) {
  console.error(error instanceof LatheError ? `${error.errorCode}: ${error.msg}` : error);
  process.exitCode = interrupted.signal.aborted ? 130 : 1;
} finally {
  await rm(temporary, { recursive: true, force: true });
}
