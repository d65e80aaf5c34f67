import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes the layer with Chromium for Lambda on x86_64: the browser, compressed, because browser, fonts and function
 * must fit into 250 MB; and the libraries that Amazon Linux lacks.
 *
 * usage: node layers/chromium/build.ts <folder>
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected the folder to write to.');
const entry = import.meta.resolve('@sparticuz/chromium');
const archives = fileURLToPath(new URL('../bin', entry));
const layer = join(folder, 'chromium');
mkdirSync(layer, { recursive: true });
cpSync(join(archives, 'chromium.br'), join(layer, 'chromium.br'));
unpack(join(archives, 'al2023.tar.br'));
renameSync(join(layer, 'al2023/lib'), join(layer, 'lib'));
rmSync(join(layer, 'al2023'), { recursive: true });

/** Unpacks an archive by the package's own code, which writes to the temporary folder. */
function unpack(archive: string): void {
  const script = 'const [entry, archive] = process.argv.slice(1); await (await import(entry)).inflate(archive);';
  execFileSync(process.execPath, ['--input-type=module', '--eval', script, entry, archive], {
    env: { ...process.env, TMPDIR: layer },
  });
}
