import { EngineError } from '../../runtime/engine.ts';
import { damagedPdf, type Pdf, type Programs, runTool } from '../../runtime/pdf-file.ts';
import { ProgramError, runProgram } from '../../runtime/program.ts';
import type { TextBox } from '../../runtime/tesseract.ts';

/** What a page holds, to decide whether its text has to be recognised. */
export interface PageContent {
  visibleCharacters: number;
  /** Of the visible text and of an invisible layer, such as an earlier recognition made. */
  characters: number;
  pictures: { dpi: number; squareInches: number }[];
}

const programMs = 240_000;

/** Finds the visible text, the hidden text and the pictures of each page. */
export async function inspectPages(pdf: Pdf, space: Programs): Promise<PageContent[]> {
  const pages = Array.from(
    { length: pdf.pages },
    (): PageContent => ({ visibleCharacters: 0, characters: 0, pictures: [] }),
  );
  await Promise.all([countVisible(pdf, pages, space), countAll(pdf, pages, space), findPictures(pdf, pages, space)]);
  return pages;
}

/** pdftohtml leaves out invisible text. */
async function countVisible({ path }: Pdf, pages: PageContent[], space: Programs): Promise<void> {
  let page: PageContent | undefined;
  await readLines('pdftohtml', ['-xml', '-i', '-q', '-nodrm', '-stdout', path], space, (line) => {
    const [, number] = /^<page number="(\d+)"/.exec(line) ?? [];
    if (number !== undefined) page = pages[Number(number) - 1];
    else if (page && line.startsWith('<text '))
      page.visibleCharacters += countCharacters(line.replace(/<[^>]*>/g, '').replace(/&#?\w+;/g, '.'));
  });
}

async function countAll({ path }: Pdf, pages: PageContent[], space: Programs): Promise<void> {
  let index = 0;
  await readLines('pdftotext', ['-q', '-enc', 'UTF-8', path, '-'], space, (line) => {
    for (const [part, text] of line.split('\f').entries()) {
      if (part > 0) index += 1;
      const page = pages[index];
      if (page) page.characters += countCharacters(text);
    }
  });
}

function countCharacters(text: string): number {
  return text.replace(/\s/g, '').length;
}

async function findPictures({ path }: Pdf, pages: PageContent[], space: Programs): Promise<void> {
  await readLines('pdfimages', ['-list', path], space, (line) => {
    const [number, , type, ...columns] = line.trim().split(/\s+/);
    const page = pages[Number(number) - 1];
    const [width = 0, height = 0] = columns.map(Number);
    const [across = 0, down = 0] = columns.slice(-4, -2).map(Number);
    if (page && (type === 'image' || type === 'stencil') && across > 0 && down > 0)
      page.pictures.push({ dpi: Math.max(across, down), squareInches: (width / across) * (height / down) });
  });
}

/** Returns the boxes of the words of a page, as parts of the displayed page: from 0 to 1. */
export async function findWords(path: string, page: number, space: Programs): Promise<TextBox[]> {
  const args = ['-q', '-bbox', '-cropbox', '-f', String(page), '-l', String(page), path, '-'];
  const { stdout } = await runTool('pdftotext', args, space);
  const [, width = 1, height = 1] = (/<page width="([\d.]+)" height="([\d.]+)"/.exec(stdout) ?? []).map(Number);
  return [...stdout.matchAll(/<word xMin="(\S+)" yMin="(\S+)" xMax="(\S+)" yMax="(\S+)"/g)].map((found) => {
    const [, left = 0, top = 0, right = 0, bottom = 0] = found.map(Number);
    return { left: left / width, top: top / height, right: right / width, bottom: bottom / height };
  });
}

async function readLines(
  program: string,
  args: string[],
  { folder, signal }: Programs,
  onStdoutLine: (line: string) => void,
): Promise<void> {
  try {
    await runProgram(program, args, {
      cwd: folder,
      env: { TMPDIR: folder },
      signal,
      timeoutMs: programMs,
      onStdoutLine,
    });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (error.timedOut) throw new EngineError('The PDF takes too long to process. Split it.', { cause: error });
    throw damagedPdf(error);
  }
}
