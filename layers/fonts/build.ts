import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EnvHttpProxyAgent, fetch } from 'undici';
import xz from 'xz-decompress';

/**
 * Writes the layer with the fonts in the web page engine's packages.txt, so that pages look the same as in its image.
 * The packages are downloaded and unpacked without Debian programs, because any system with Node may deploy.
 *
 * usage: node layers/fonts/build.ts <folder>
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected the folder to write to.');
/** Debian's mirror, which has only current versions, and its archive, which has every version. */
const origins = ['https://deb.debian.org/debian', 'https://snapshot.debian.org/archive/debian/20261101T000000Z'];
/** The layers would not fit with the serif variant of Chinese, Japanese and Korean. Those pages use the other one. */
const leftOut = /^NotoSerifCJK/;
const kept = fileURLToPath(new URL('../../node_modules/.cache/lathe', import.meta.url));
const list = new URL('../../functions/engines/webpage/packages.txt', import.meta.url);
/** Filename and SHA256 of each package as printed by `apt-cache show` of Debian 12. */
const pinned: Record<string, { path: string; sha256: string }> = JSON.parse(
  readFileSync(new URL('debian.json', import.meta.url), 'utf8'),
);

const layer = join(folder, 'fonts');
mkdirSync(layer, { recursive: true });
cpSync(new URL('fonts.conf', import.meta.url), join(layer, 'fonts.conf'));
for (const name of readFileSync(list, 'utf8').split('\n')) {
  if (!name.startsWith('fonts-')) continue;
  const filter = (path: string) => !leftOut.test(basename(path));
  cpSync(await fontsOf(name), join(layer, 'files'), { recursive: true, filter });
}
// Functions run as another user than the deployer, and a copy keeps the mode of its temporary folder.
chmodSync(join(layer, 'files'), 0o755);

/** Returns the folder with the fonts of a package, created once per installation. */
async function fontsOf(name: string): Promise<string> {
  const entry = pinned[name];
  if (entry === undefined) throw new Error(`Expected the path and SHA-256 of ${name} in layers/fonts/debian.json.`);
  const target = join(kept, basename(entry.path, '.deb'));
  if (existsSync(target)) return target;
  mkdirSync(kept, { recursive: true });
  const draft = mkdtempSync(`${target}.`);
  try {
    const archive = await unpacked(await download(entry));
    for (const [path, content] of filesOf(archive)) {
      if (/\.(ttf|ttc|otf)$/.test(path)) writeFileSync(join(draft, basename(path)), content);
    }
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process may have been faster, with the same content.
    if (!existsSync(target)) throw error;
  }
  return target;
}

async function download({ path, sha256 }: { path: string; sha256: string }): Promise<Buffer> {
  const failures: string[] = [];
  // Uses the same proxy as npm.
  const dispatcher = new EnvHttpProxyAgent();
  for (const origin of origins) {
    const url = `${origin}/${path}`;
    try {
      const response = await fetch(url, { dispatcher });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const content = Buffer.from(await response.arrayBuffer());
      const received = createHash('sha256').update(content).digest('hex');
      if (received !== sha256) throw new Error(`expected SHA-256 ${sha256} but received ${received}`);
      return content;
    } catch (error) {
      failures.push(`${url}: ${error instanceof Error ? (error.cause ?? error.message) : error}`);
    }
  }
  throw new Error(`A package of fonts could not be downloaded.\n${failures.join('\n')}`);
}

/** Returns the files of a package as a tar archive, which is an xz-compressed member of an ar archive. */
async function unpacked(deb: Buffer): Promise<Buffer> {
  for (let offset = '!<arch>\n'.length; offset < deb.length; ) {
    const name = deb.toString('latin1', offset, offset + 16).trim();
    const size = Number(deb.toString('latin1', offset + 48, offset + 58));
    const content = deb.subarray(offset + 60, offset + 60 + size);
    if (name === 'data.tar.xz')
      return Buffer.from(await new Response(new xz.XzReadableStream(new Blob([content]).stream())).arrayBuffer());
    offset += 60 + size + (size % 2);
  }
  throw new Error('The package has no data.tar.xz.');
}

/** Yields the paths and contents of the regular files in a tar archive. */
function* filesOf(archive: Buffer): Generator<[path: string, content: Buffer]> {
  for (let offset = 0; archive[offset]; ) {
    const path = archive.toString('utf8', offset, offset + 100).replace(/\0.*/s, '');
    const size = Number.parseInt(archive.toString('latin1', offset + 124, offset + 136), 8);
    const isFile = archive.toString('latin1', offset + 156, offset + 157) === '0';
    if (isFile) yield [path, archive.subarray(offset + 512, offset + 512 + size)];
    offset += 512 + Math.ceil(size / 512) * 512;
  }
}
