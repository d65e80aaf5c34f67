import { existsSync } from 'node:fs';
import { access, constants, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../runtime/program.ts';
import { warmFolder } from '../runtime/warm-folder.ts';

/** Folder of the package: its entry is build/index.js. */
const entry = () => import.meta.resolve('@sparticuz/chromium');
const unpackMs = 120_000;

/** Runs the package's own unpacking, which writes to the temporary folder, in a process with the target as temporary folder. */
const script = `
const [entry, ...archives] = process.argv.slice(1);
const { inflate } = await import(entry);
for (const archive of archives) await inflate(archive);
`;

/**
 * Unpacks archives of the package @sparticuz/chromium and returns the folder of their contents. This is done once per
 * installation. The contents are kept next to the packages, or in the temporary folder if that is not writable.
 */
export async function unpackBundle(name: string, archives: string[]): Promise<string> {
  const root = fileURLToPath(new URL('..', entry()));
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const kept = join(root, '..', '..', '.cache', 'lathe');
  // Checked before looking for a writable folder: in the sandbox the packages are read-only.
  if (existsSync(join(kept, `${name}-${version}`))) return join(kept, `${name}-${version}`);
  const folder = join(await cacheFolder(kept), `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const draft = await mkdtemp(`${folder}.`);
  try {
    const paths = archives.map((archive) => join(root, 'bin', archive));
    await runProgram(process.execPath, ['--input-type=module', '--eval', script, entry(), ...paths], {
      cwd: draft,
      env: { TMPDIR: draft },
      timeoutMs: unpackMs,
    });
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have been quicker; what it made is the same.
    if (!existsSync(folder)) throw new Error(`${name} could not be unpacked: ${error}`, { cause: error });
  }
  return folder;
}

async function cacheFolder(wanted: string): Promise<string> {
  try {
    await mkdir(wanted, { recursive: true });
    await access(wanted, constants.W_OK);
    return wanted;
  } catch {
    return warmFolder();
  }
}
