import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/**
 * Writes the layer with the fonts in the web page engine's packages.txt, so that pages look the same as in its image.
 *
 * usage: node layers/fonts/build.ts <folder>
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected the folder to write to.');
const list = new URL('../../functions/engines/webpage/packages.txt', import.meta.url);
const packages = readFileSync(list, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('fonts-'));
/** With the serif variant of Chinese, Japanese and Korean the layers would not fit; those pages are drawn with the other one. */
const leftOut = /^NotoSerifCJK/;

const layer = join(folder, 'fonts');
mkdirSync(join(layer, 'files'), { recursive: true });
cpSync(new URL('fonts.conf', import.meta.url), join(layer, 'fonts.conf'));
for (const path of fontFiles()) {
  if (!leftOut.test(basename(path))) cpSync(path, join(layer, 'files', basename(path)), { dereference: true });
}

/** Lists the fonts of the packages: those installed on this machine, or else those that apt downloads. */
function fontFiles(): string[] {
  const installed = packages.flatMap(installedFonts);
  return packages.every((name) => installedFonts(name).length > 0) ? installed : downloadedFonts();
}

function installedFonts(name: string): string[] {
  try {
    return execFileSync('dpkg-query', ['-L', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter((path) => isFont(path) && existsSync(path));
  } catch {
    // Not Debian, or not installed; downloading says which.
    return [];
  }
}

function downloadedFonts(): string[] {
  const downloads = mkdtempSync(join(tmpdir(), 'lathe-fonts-'));
  process.once('exit', () => rmSync(downloads, { recursive: true, force: true }));
  // The fonts of these packages are the same for every architecture.
  execFileSync('apt-get', ['-qq', 'download', ...packages], { cwd: downloads, stdio: ['ignore', 'ignore', 'inherit'] });
  for (const name of readdirSync(downloads)) execFileSync('dpkg-deb', ['-x', name, 'files'], { cwd: downloads });
  return readdirSync(join(downloads, 'files'), { recursive: true, encoding: 'utf8' })
    .map((path) => join(downloads, 'files', path))
    .filter((path) => isFont(path) && statSync(path).isFile());
}

function isFont(path: string): boolean {
  return /\.(ttf|ttc|otf)$/.test(path);
}
