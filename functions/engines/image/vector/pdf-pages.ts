import { join } from 'node:path';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import { checkPictures } from '../../runtime/pdf-pictures.ts';
import { ProgramError, runProgram } from '../../runtime/program.ts';
import type { Size } from '../decoders/decoding.ts';
import { damaged } from '../failures.ts';
import { maxPixels } from '../limits.ts';
import { limited, type ProgramContext } from './postscript.ts';

const timeoutMs = 120_000;

/** A page's size in points, as displayed. */
export type PageSize = Size;

/** Returns the sizes of a PDF's pages in points, as displayed. */
export async function pdfPages(input: InputFile, context: ProgramContext): Promise<PageSize[]> {
  await checkPictures(input.path);
  const { stdout } = await poppler('pdfinfo', ['-f', '1', '-l', '-1', input.path], input, context);
  const pages = pageSizes(stdout);
  if (pages.length === 0) throw new EngineError(`The file ${JSON.stringify(input.name)} has no pages.`);
  return pages;
}

/** Parses the page sizes in the output of pdfinfo: in points, as displayed. */
export function pageSizes(pdfinfo: string): PageSize[] {
  // Large numbers have an exponent, and larger ones are printed as infinite.
  const sizes = [...pdfinfo.matchAll(/^Page(?:\s+\d+)? size:\s+(\S+) x (\S+) pts/gm)];
  const turns = [...pdfinfo.matchAll(/^Page(?:\s+\d+)? rot:\s+(\d+)/gm)].map(([, turn]) => Number(turn));
  return sizes.map(([, ...sides], index) => {
    const [width = 0, height = 0] = sides.map((side) =>
      /^[\d.e+-]+$/.test(side) ? Number(side) : Number.POSITIVE_INFINITY,
    );
    return (turns[index] ?? 0) % 180 === 0 ? { width, height } : { width: height, height: width };
  });
}

/** Renders a page of a PDF, counted from 1, to a PNG and returns its path. */
export async function renderPdfPage(
  input: InputFile,
  page: PageSize & { number: number },
  rendering: { dpi: number; transparent: boolean },
  context: ProgramContext,
): Promise<string> {
  const pixels = ((page.width * rendering.dpi) / 72) * ((page.height * rendering.dpi) / 72);
  if (!(pixels <= maxPixels)) {
    throw new EngineError(
      `A page of ${JSON.stringify(input.name)} would have more than ${maxPixels / 1_000_000} million pixels. Choose a lower resolution.`,
    );
  }
  const base = join(context.folder, `page-${page.number}`);
  const number = String(page.number);
  const how = ['-png', '-singlefile', '-r', String(rendering.dpi), '-f', number, '-l', number];
  await poppler(
    'pdftocairo',
    [...how, ...(rendering.transparent ? ['-transp'] : []), input.path, base],
    input,
    context,
    pixels,
  );
  return `${base}.png`;
}

async function poppler(program: string, args: string[], input: InputFile, context: ProgramContext, pixels = 0) {
  const { folder, signal } = context;
  try {
    return await limited(input, context, () => runProgram(program, args, { cwd: folder, signal, timeoutMs }), pixels);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (/password/i.test(error.stderr)) throw passwordProtected(input, error.stderr);
    if (error.timedOut) {
      throw new EngineError(`The file ${JSON.stringify(input.name)} takes too long to render.`, {
        detail: `${program} was stopped`,
      });
    }
    throw damaged(input, error.stderr);
  }
}

/** Returns the error for a password-protected PDF. */
export function passwordProtected(input: InputFile, detail = ''): EngineError {
  return new EngineError(`The file ${JSON.stringify(input.name)} is password-protected. Remove the password first.`, {
    detail,
  });
}
