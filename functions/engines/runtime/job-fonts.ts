import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type InputFile, type Work } from './engine.ts';
import { ProgramError, runProgram } from './program.ts';

const maxFonts = 50;
const maxFontBytes = 50 * 1024 ** 2;
const maxBytes = 200 * 1024 ** 2;
const scanMs = 20_000;
const systemConfiguration = '/etc/fonts/fonts.conf';

/** First bytes of fonts, with their extensions. */
const signatures: Record<string, string> = {
  '00010000': 'ttf',
  '74727565': 'ttf',
  '4f54544f': 'otf',
  '74746366': 'ttc',
};
const webFonts = ['774f4646', '774f4632'];

let active: string | undefined;

/** Returns the font configuration of the running work, if it brings fonts. Programs that stay running start again for it. */
export function activeFonts(): string | undefined {
  return active;
}

/** Runs work with the fonts that it brings, in addition to those that are installed: every program finds them by fontconfig. */
export async function withFonts<T>({ others = [], folder }: Work, run: () => Promise<T>): Promise<T> {
  const fonts = others.filter(({ role }) => role === 'fonts');
  if (fonts.length === 0) return run();
  const before = process.env.FONTCONFIG_FILE;
  active = await configure(fonts, folder, before);
  process.env.FONTCONFIG_FILE = active;
  try {
    return await run();
  } finally {
    active = undefined;
    if (before === undefined) delete process.env.FONTCONFIG_FILE;
    else process.env.FONTCONFIG_FILE = before;
  }
}

/** Checks the fonts, and writes a configuration that adds them. Returns its path. */
async function configure(fonts: InputFile[], folder: string, before: string | undefined): Promise<string> {
  const bytes = fonts.reduce((sum, { size }) => sum + size, 0);
  if (fonts.length > maxFonts || bytes > maxBytes)
    throw new EngineError(
      `Expected at most ${maxFonts} fonts of ${maxBytes / 1024 ** 2} MB in all but received ${fonts.length} of ${Math.ceil(bytes / 1024 ** 2)} MB.`,
    );
  // A path of its own for each task, by which programs know that their fonts are others.
  const place = join(folder, `fonts-${randomUUID()}`);
  const files = join(place, 'files');
  await mkdir(files, { recursive: true });
  for (const [index, font] of fonts.entries()) await addFont(font, files, index);
  const layers = join(process.env.LATHE_LAYERS ?? '/opt', 'fonts', 'fonts.conf');
  const system = before || (existsSync(layers) ? layers : systemConfiguration);
  const path = join(place, 'fonts.conf');
  await writeFile(
    path,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<cachedir>${encode(join(place, 'cache'))}</cachedir>
<dir>${encode(files)}</dir>
<include ignore_missing="yes">${encode(system)}</include>
</fontconfig>
`,
  );
  return path;
}

async function addFont({ name, path, size }: InputFile, folder: string, index: number): Promise<void> {
  const start = await startOf(path);
  if (webFonts.includes(start))
    throw new EngineError(`The font ${JSON.stringify(name)} is a web font (WOFF). Convert it to ttf or otf.`);
  const extension = signatures[start];
  if (extension === undefined || size > maxFontBytes) throw unreadable(name);
  const copy = join(folder, `${index}.${extension}`);
  await copyFile(path, copy);
  try {
    const args = ['--format', '%{family}\n', copy];
    const { stdout } = await runProgram('fc-scan', args, { cwd: folder, timeoutMs: scanMs });
    if (stdout.trim() === '') throw unreadable(name);
  } catch (error) {
    throw error instanceof ProgramError ? unreadable(name) : error;
  }
}

function unreadable(name: string): EngineError {
  return new EngineError(
    `The font ${JSON.stringify(name)} could not be read. Expected a TrueType or OpenType font (ttf, otf, ttc) of at most ${maxFontBytes / 1024 ** 2} MB.`,
  );
}

async function startOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('hex', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function encode(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
