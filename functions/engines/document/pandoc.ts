import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EngineError } from '../runtime/engine.ts';
import type { Workspace } from '../runtime/pdf-file.ts';
import { ProgramError, runProgram } from '../runtime/program.ts';
import { firstBytes, isMarkup, readPart, readParts, zipOf } from './guards/containers.ts';
import { defuseVector } from './guards/defuse-vector.ts';
import { Inspection } from './guards/inspection.ts';
import { decodeDataUri, isVector, rasterType, toDataUri } from './guards/pictures.ts';
import { decodeXml, encodeXml } from './xml-text.ts';

const timeoutMs = 180_000;
/** Path of the templates in Debian. Other builds of pandoc embed them. */
const dataFolder = '/usr/share/pandoc';

interface PandocRequest {
  input: string;
  from: string;
  to: string;
  output: string;
  /** Title of a page or book that has none. */
  title: string;
}

/** Writers that embed pictures in their file, and text formats that support data URIs. */
const packing = ['docx', 'odt', 'pptx', 'epub', 'fb2', 'ipynb'];
const embedding = ['markdown', 'rst', 'asciidoc'];

/**
 * Markdown as GitHub and most editors read it. In pandoc's own dialect, a list right after a line of text is more text, and
 * no other program supports its tables.
 */
const markdown = {
  from: 'gfm+yaml_metadata_block+tex_math_dollars+footnotes',
  to: 'gfm+tex_math_dollars+footnotes',
};

/**
 * Converts markup with pandoc in its sandbox, in which readers and writers are pure functions: inclusions, images and
 * style sheets that a document names are not read. Returns warnings for the user.
 */
export async function convertWithPandoc(request: PandocRequest, { folder, signal }: Workspace): Promise<string[]> {
  const { to, output, title } = request;
  const cwd = join(folder, 'pandoc');
  await mkdir(cwd, { recursive: true });
  const run = async (...args: string[]) => {
    const options = { cwd, env: { TMPDIR: folder }, signal, timeoutMs };
    try {
      return await runProgram('pandoc', ['+RTS', '-M2g', '-RTS', '--sandbox', ...args], options);
    } catch (error) {
      throw explain(error);
    }
  };
  const unboxed = request.from === 'docx' ? await withoutBoxes(request.input, cwd) : request.input;
  const { input, from, files, warnings } = await settlePictures({ ...request, input: unboxed }, cwd, run);
  const args = ['--standalone', `--from=${readerOf(from)}`, `--to=${to === 'markdown' ? markdown.to : to}`];
  if (to === 'markdown' || to === 'plain') args.push('--wrap=none');
  if (to === 'epub') {
    await writeFile(join(cwd, 'book.yaml'), JSON.stringify(await describeBook(request)));
    args.push('--metadata-file=book.yaml');
  }
  const pictures = files.map((file) => `--epub-embed-font=${file}`);
  const { stderr } = await run(...args, ...pictures, ...(await dataFiles(cwd, to)), `--output=${output}`, input);
  if (isPackage(to)) await finishPackage(output);
  if (to === 'html' && stderr.includes('requires a nonempty <title>')) await nameHtml(output, title);
  const missing = [...stderr.matchAll(/^\[WARNING\] Could not fetch resource (.+?)(?:: |$)/gm)].map(
    ([, name = '']) => name,
  );
  return missing.length > 0 ? [...warnings, missingPictures(missing)] : warnings;
}

/**
 * Returns metadata of a book that its text does not set. In the sandbox the time is 1970 and random identifiers are all the
 * same, so e-book readers would take all books for one.
 */
async function describeBook({ input, from, title }: PandocRequest): Promise<Record<string, string>> {
  const book = { title, date: new Date().toISOString().slice(0, 10), identifier: `urn:uuid:${randomUUID()}` };
  const properties = from === 'docx' ? (await readPart(input, 'docProps/core.xml'))?.toString() : undefined;
  const propertyOf = (name: string) => {
    const [, text = ''] = new RegExp(`<dc:${name}>([^<]+)<`).exec(properties ?? '') ?? [];
    return decodeXml(text).trim();
  };
  const [named, author] = [propertyOf('title'), propertyOf('creator')];
  return { ...book, ...(named ? { title: named } : {}), ...(author ? { author } : {}) };
}

function readerOf(format: string): string {
  return format === 'markdown' ? markdown.from : format;
}

/** Sets the title of a page. Pandoc uses the name of its input file for a page without one. */
async function nameHtml(path: string, title: string): Promise<void> {
  const page = await readFile(path, 'utf8');
  await writeFile(
    path,
    page.replace(/<title>[^<]*<\/title>/, () => `<title>${encodeXml(title)}</title>`),
  );
}

const isPackage = (format: string) => ['docx', 'odt', 'pptx', 'epub'].includes(format);

/** The sandbox has no clock: all times are the start of the Unix epoch. */
const noTime = /1970-01-01T00:00:00Z/g;
const described = /^(?:docProps\/core|meta|EPUB\/content)\.(?:xml|opf)$/;

/** Sets the creation time of a package, and removes the files that a book got as fonts for the sandbox. */
async function finishPackage(path: string): Promise<void> {
  const parts = await readParts(path);
  const now = new Date().toISOString().replace(/\.\d+/, '');
  for (const [name, bytes] of parts)
    if (/^EPUB\/fonts\//.test(name)) parts.delete(name);
    else if (described.test(name)) {
      const text = bytes.toString().replaceAll(noTime, now);
      parts.set(name, Buffer.from(text.replaceAll(/<item [^>]*href="fonts\/[^>]*>/g, '')));
    }
  await writeFile(path, await zipOf(parts));
}

/** Returns the warning about pictures that a document references but does not contain. */
export function missingPictures(names: string[]): string {
  return `Pictures that are not in the file were left out: ${listed(names)}. Embed them as data URIs, or convert a docx, odt or epub file that contains them.`;
}

const maxListed = 5;

function listed(names: string[]): string {
  const shown = names.slice(0, maxListed).map((name) => (name.length > 80 ? `${name.slice(0, 79)}…` : name));
  return shown.join(', ') + (names.length > maxListed ? ` and ${names.length - maxListed} more` : '');
}

/** Input of pandoc, files that its writer may embed, and warnings for the user. */
interface SettledInput {
  input: string;
  from: string;
  files: string[];
  warnings: string[];
}

type Run = (...args: string[]) => Promise<unknown>;

/**
 * Makes pictures available to the writer. Data URIs become files, the only form that the sandbox reads. Pictures of a package
 * become data URIs if the output is a single text file.
 */
async function settlePictures(request: PandocRequest, cwd: string, run: Run): Promise<SettledInput> {
  const { input, from, to } = request;
  const settled: SettledInput = { input, from, files: [], warnings: [] };
  const isZip = (await firstBytes(input, 2)).toString('latin1') === 'PK';
  if (packing.includes(to)) {
    if (isZip || !(await readFile(input)).includes('data:image/')) return settled;
    return withTree(settled, cwd, run, async (pictures) => {
      for (const picture of pictures) {
        const bytes = decodeDataUri(picture.source);
        const type = bytes && pictureType(bytes);
        if (!type) continue;
        const name = `picture-${settled.files.length}.${type.replace(/^image\/|\+xml$/g, '')}`;
        await writeFile(join(cwd, name), type === vectorType ? defuseVector(bytes, new Inspection()) : bytes);
        settled.files.push(name);
        picture.source = name;
      }
    });
  }
  if (!isZip) return settled;
  const parts = await readParts(input);
  const isBook = from === 'epub' && to === 'markdown';
  if (!isBook && ![...parts].some(([name, bytes]) => pictureNames.test(name) && !isMarkup(bytes))) return settled;
  return withTree(settled, cwd, run, async (pictures, tree) => {
    const left: string[] = [];
    if (isBook) unwrap(tree);
    for (const picture of pictures) {
      const { source } = picture;
      const bytes = parts.get(source) ?? parts.get(`word/${source}`) ?? parts.get(`EPUB/${source}`);
      const type = bytes && pictureType(bytes);
      if (to === 'markdown') picture.unsize();
      if (type && embedding.includes(to)) picture.source = toDataUri(type, bytes);
      else if (!/^(?:https?|data):/i.test(source)) {
        left.push(basename(source));
        picture.omit();
      }
    }
    if (left.length > 0)
      settled.warnings.push(
        `Pictures were left out, as the output is text without them: ${listed(left)}. Formats that keep them are md, html, docx, odt and epub.`,
      );
  });
}

/** Moves the paragraphs of text boxes, which pandoc skips, after their anchors. Returns the path of the copy. */
async function withoutBoxes(input: string, cwd: string): Promise<string> {
  const part = 'word/document.xml';
  const xml = (await readPart(input, part))?.toString() ?? '';
  if (!xml.includes('<w:txbxContent')) return input;
  const [opening, closing] = ['<mc:AlternateContent', '</mc:AlternateContent>'];
  // Without an end tag after the last one, the expression below would backtrack.
  if (xml.lastIndexOf(closing) < xml.lastIndexOf(opening)) return input;
  // XML does not allow these characters.
  const [start, end] = ['\u0001', '\u0002'];
  let isNested = false;
  const marked = xml.replaceAll(/<mc:AlternateContent[\s>][\s\S]*?<\/mc:AlternateContent>/g, (block) => {
    if (block.lastIndexOf(opening) > 0) isNested = true;
    const choice = block.slice(0, block.indexOf('</mc:Choice>'));
    const boxes = choice.split('<w:txbxContent>').slice(1);
    return boxes.length > 0 ? start + boxes.map((box) => box.split('</w:txbxContent>')[0]).join('') + end : block;
  });
  if (isNested) return input;
  let [text = '', ...rest] = marked.split(start);
  let waiting = '';
  for (const piece of rest) {
    const [content = '', after = ''] = piece.split(end);
    waiting += content;
    const [paragraph = '', ...others] = after.split('</w:p>');
    text += paragraph;
    if (others.length === 0) continue;
    text += `</w:p>${waiting}${others.join('</w:p>')}`;
    waiting = '';
  }
  const parts = await readParts(input);
  parts.set(part, Buffer.from(text));
  const copy = join(cwd, 'unboxed.docx');
  await writeFile(copy, await zipOf(parts));
  return copy;
}

const vectorType = 'image/svg+xml';
const pictureNames = /\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|emf|wmf)$/i;

function pictureType(bytes: Buffer): string | undefined {
  return rasterType(bytes) ?? (isVector(bytes) ? vectorType : undefined);
}

/** Reads a document into pandoc's syntax tree and edits the pictures in it. */
async function withTree(
  settled: SettledInput,
  cwd: string,
  run: Run,
  edit: (pictures: Picture[], tree: unknown) => Promise<void>,
): Promise<SettledInput> {
  const path = join(cwd, 'tree.json');
  await run(`--from=${readerOf(settled.from)}`, '--to=json', '--quiet', `--output=${path}`, settled.input);
  const tree: unknown = JSON.parse(await readFile(path, 'utf8'));
  await edit(picturesOf(tree), tree);
  await writeFile(path, JSON.stringify(tree));
  return { ...settled, input: path, from: 'json' };
}

interface Picture {
  source: string;
  /** Removes its size, which Markdown could only express as HTML. */
  unsize(): void;
  /** Keeps only its description. */
  omit(): void;
}

/** Walks a syntax tree from its end, without recursion. A node may be changed before its content is visited. */
function* nodesOf(tree: unknown): Generator<object> {
  const open: unknown[] = [tree];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    yield node;
    for (const inner of Object.values(node)) open.push(inner);
  }
}

function picturesOf(tree: unknown): Picture[] {
  const pictures: Picture[] = [];
  for (const node of nodesOf(tree)) {
    if (!isImage(node)) continue;
    const [, description, target] = node.c;
    pictures.push({
      get source() {
        return target[0];
      },
      set source(source) {
        target[0] = source;
      },
      unsize: () => {
        node.c[0] = ['', [], []];
      },
      omit: () => Object.assign(node, { t: 'Span', c: [['', [], []], description] }),
    });
  }
  return pictures.reverse();
}

/** Removes the sections of a book, but not their content. In Markdown they would be HTML around every chapter. */
function unwrap(tree: unknown): void {
  for (const node of nodesOf(tree)) {
    if (!Array.isArray(node)) continue;
    const nodes = node.splice(0).reverse();
    while (nodes.length > 0) {
      const next = nodes.pop();
      const content = wrappedIn(next);
      if (content) for (const inner of content.toReversed()) nodes.push(inner);
      else node.push(next);
    }
  }
}

function wrappedIn(node: unknown): unknown[] | undefined {
  const { t, c } = Object(node);
  if (t === 'RawBlock' || t === 'RawInline') return [];
  return (t === 'Div' || t === 'Span') && Array.isArray(c) && Array.isArray(c[1]) ? c[1] : undefined;
}

function isImage(node: object): node is { t: 'Image'; c: [unknown, unknown, [source: string, title: string]] } {
  return 't' in node && node.t === 'Image' && 'c' in node && Array.isArray(node.c) && Array.isArray(node.c[2]);
}

/**
 * Passes pandoc's own data files in options that make files available in its sandbox. Debian's build keeps them on disk, which
 * the sandbox cannot read, so it could not write docx, odt, pptx or epub. The chosen options have no other effect: fonts of an
 * epub if another format is written, or the reference document if an epub is written.
 */
async function dataFiles(cwd: string, to: string): Promise<string[]> {
  if (!existsSync(join(dataFolder, 'data'))) return [];
  if (!existsSync(join(cwd, 'data'))) await symlink(dataFolder, join(cwd, 'data'));
  if (to === 'epub') return ['--reference-doc=data/data/epub.css'];
  const templates: Record<string, string> = { html: 'html5', markdown: 'commonmark' };
  const template = `data/data/templates/default.${templates[to] ?? to}`;
  const files = ['data/data/translations/en.yaml', template, 'data/data/templates/styles.html'];
  if (['docx', 'odt', 'pptx'].includes(to)) {
    const entries = await readdir(join(dataFolder, 'data', to), { recursive: true, withFileTypes: true });
    for (const entry of entries)
      if (entry.isFile()) files.push(`data${join(entry.parentPath, entry.name).slice(dataFolder.length)}`);
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
