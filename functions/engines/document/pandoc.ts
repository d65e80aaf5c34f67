import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type WorkContext } from '../runtime/engine.ts';
import { ProgramError, runProgram } from '../runtime/program.ts';

const timeoutMs = 180_000;
/** Where Debian installs the templates that other builds of pandoc embed. */
const dataFolder = '/usr/share/pandoc';

interface PandocRequest {
  folder: string;
  input: string;
  from: string;
  to: string;
  output: string;
}

/**
 * Converts markup with pandoc in its sandbox, in which readers and writers are pure functions: inclusions, images and
 * style sheets that a document names are not read, whatever the reader.
 */
export async function convertWithPandoc(
  request: PandocRequest,
  { signal }: Pick<WorkContext, 'signal'>,
): Promise<void> {
  const { folder, input, from, to, output } = request;
  const cwd = join(folder, 'pandoc');
  await mkdir(cwd, { recursive: true });
  const args = ['+RTS', '-M2g', '-RTS', '--sandbox', '--standalone', '--quiet', `--from=${from}`, `--to=${to}`];
  // A title is required in a page's head. Embedding resources would be done outside the sandbox, so it is off.
  if (to === 'html') args.push('--metadata=pagetitle:Document');
  if (to === 'markdown' || to === 'plain') args.push('--wrap=none');
  try {
    await runProgram('pandoc', [...args, ...(await dataFiles(cwd, to)), `--output=${output}`, input], {
      cwd,
      env: { TMPDIR: folder },
      signal,
      timeoutMs,
    });
  } catch (error) {
    throw explain(error);
  }
}

/**
 * Names pandoc's own data files in options that its sandbox admits files of. Debian's build keeps them on disk and its
 * sandbox cannot see the disk, so without this it writes no docx, odt, pptx or epub. The options chosen have no effect
 * with the writer in question: fonts of an epub, or the reference document where an epub is written.
 */
async function dataFiles(cwd: string, to: string): Promise<string[]> {
  if (!existsSync(join(dataFolder, 'data'))) return [];
  if (!existsSync(join(cwd, 'data'))) await symlink(dataFolder, join(cwd, 'data'));
  if (to === 'epub') return ['--reference-doc=data/data/epub.css'];
  const template = `data/data/templates/default.${to === 'html' ? 'html5' : to}`;
  const files = ['data/data/translations/en.yaml', template, 'data/data/templates/styles.html'];
  if (['docx', 'odt', 'pptx'].includes(to)) {
    const entries = await readdir(join(dataFolder, 'data', to), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      files.push(`data${join(entry.parentPath, entry.name).slice(dataFolder.length)}`);
    }
  }
  return files.filter((file) => existsSync(join(cwd, file))).map((file) => `--epub-embed-font=${file}`);
}

function explain(error: unknown): unknown {
  if (!(error instanceof ProgramError)) return error;
  const detail = error.stderr.trim().split('\n').slice(-5).join('\n');
  if (error.timedOut) return new EngineError('The document takes too long to convert. Split it.', { detail });
  if (/heap|memory/i.test(detail))
    return new EngineError('The document needs more memory to convert than is available. Split it.', { detail });
  return new EngineError('The file could not be read: its markup is invalid or does not match its extension.', {
    detail,
  });
}
