import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { markupFormat, officeFormat } from '../../../functions/engines/document/formats.ts';
import { shipped } from './shipped.ts';

const run = promisify(execFile);

/** What every text sample says: a Latin, a German, a Chinese and a Hebrew word, and a plain one at the end. */
export const words = ['Lathe', 'Größe', '漢字', 'עברית', 'final'];
export const asciiWords = ['Lathe', 'final'];

/** What every sheet sample holds, row by row. */
export const cells: (string | number)[][] = [
  ['Name', 'Wert'],
  ['Größe', 42.5],
  ['漢字', -7],
  ['עברית', 1234567],
];

const paragraphs = ['Lathe turns Größe and 漢字.', 'Then עברית comes final.'];
const heading = 'Sample heading';

/** Writes a zip from parts; the first is stored, as the containers of documents want it. */
export async function zip(path: string, parts: Record<string, string | Uint8Array>): Promise<string> {
  const file = new ZipFile();
  for (const [name, content] of Object.entries(parts))
    file.addBuffer(Buffer.from(content), name, { compress: name !== 'mimetype' });
  file.end();
  const chunks: Buffer[] = [];
  for await (const chunk of file.outputStream) chunks.push(Buffer.from(chunk));
  await writeFile(path, Buffer.concat(chunks));
  return path;
}

/** Reads all parts of a zip. */
export async function unzip(path: string): Promise<Record<string, Buffer>> {
  const file = await fromBufferPromise(await readFile(path));
  const parts: Record<string, Buffer> = {};
  for await (const entry of file.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const chunks: Buffer[] = [];
    for await (const chunk of await file.openReadStreamPromise(entry)) chunks.push(chunk);
    parts[entry.fileName] = Buffer.concat(chunks);
  }
  return parts;
}

/** Converts with a LibreOffice of its own, started for this file alone. */
export async function soffice(input: string, to: string, folder: string, importer?: string): Promise<string> {
  const out = join(folder, 'soffice-out');
  await mkdir(out, { recursive: true });
  const profile = `-env:UserInstallation=file://${join(folder, 'soffice-profile')}`;
  const forced = importer === undefined ? [] : [`--infilter=${importer}`];
  const args = [profile, '--headless', ...forced, '--convert-to', to, '--outdir', out, input];
  await run('soffice', args, { timeout: 120_000 });
  const stem = basename(input).replace(/\.[^.]+$/, '');
  const made = join(folder, `${stem}.${to.split(':')[0]}`);
  await rename(join(out, basename(made)), made);
  return made;
}

/** Converts with pandoc as anyone would call it. */
export async function pandoc(input: string, from: string, to: string, output: string): Promise<string> {
  await run('pandoc', ['--quiet', '-s', '-f', from, '-t', to, '-o', output, input], { timeout: 60_000 });
  return output;
}

const odfNames = [
  ['office', 'office'],
  ['text', 'text'],
  ['table', 'table'],
  ['draw', 'drawing'],
  ['presentation', 'presentation'],
  ['style', 'style'],
]
  .map(([prefix, name]) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .concat([
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"',
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"',
    'xmlns:xlink="http://www.w3.org/1999/xlink"',
  ])
  .join(' ');

/** Writes a flat OpenDocument around a body. */
export function flatOdf(kind: string, body: string, extra = ''): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${odfNames} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.${kind}">${extra}<office:body>${body}</office:body></office:document>`;
}

const odfParagraphs = `<text:h text:outline-level="1">${heading}</text:h>${paragraphs.map((line) => `<text:p>${line}</text:p>`).join('')}`;

function odfRow(row: (string | number)[]): string {
  const filled = row.map((cell) =>
    typeof cell === 'number'
      ? `<table:table-cell office:value-type="float" office:value="${cell}"><text:p>${cell}</text:p></table:table-cell>`
      : `<table:table-cell office:value-type="string"><text:p>${cell}</text:p></table:table-cell>`,
  );
  return `<table:table-row>${filled.join('')}</table:table-row>`;
}

const odfTable = `<table:table table:name="Data">${cells.map(odfRow).join('')}</table:table>`;

const frame = (line: string, index: number) =>
  `<draw:frame svg:x="2cm" svg:y="${2 + index * 4}cm" svg:width="16cm" svg:height="3cm"><draw:text-box><text:p>${line}</text:p></draw:text-box></draw:frame>`;
const page = (lines: string[]) =>
  `<draw:page draw:name="page${lines.length}" draw:master-page-name="Default">${lines.map(frame).join('')}</draw:page>`;
const master = `<office:automatic-styles><style:page-layout style:name="PM1"><style:page-layout-properties fo:page-width="28cm" fo:page-height="21cm"/></style:page-layout></office:automatic-styles><office:master-styles><style:master-page style:name="Default" style:page-layout-name="PM1"/></office:master-styles>`;

const flat: Record<string, string> = {
  fodt: flatOdf('text', `<office:text>${odfParagraphs}</office:text>`),
  fods: flatOdf('spreadsheet', `<office:spreadsheet>${odfTable}</office:spreadsheet>`),
  fodp: flatOdf(
    'presentation',
    `<office:presentation>${page(paragraphs)}${page([heading])}</office:presentation>`,
    master,
  ),
  fodg: flatOdf('graphics', `<office:drawing>${page(paragraphs)}</office:drawing>`, master),
};

/** The names of OpenOffice 1, from before the format was a standard. */
function openOfficeOne(kind: string, body: string): string {
  const names = ['office', 'text', 'table', 'style', 'presentation']
    .map((name) => `xmlns:${name}="http://openoffice.org/2000/${name}"`)
    .join(' ');
  const version = `${names} xmlns:draw="http://openoffice.org/2000/drawing" xmlns:svg="http://www.w3.org/2000/svg" xmlns:fo="http://www.w3.org/1999/XSL/Format" xmlns:xlink="http://www.w3.org/1999/xlink" office:class="${kind}" office:version="1.0"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE office:document-content PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "office.dtd">
<office:document-content ${version}><office:body>${body}</office:body></office:document-content>`;
}

function openOfficeOneParts(kind: string, mediaType: string, body: string): Record<string, string> {
  const styles = openOfficeOne(kind, '')
    .replaceAll('document-content', 'document-styles')
    .replace(
      '<office:body></office:body>',
      '<office:automatic-styles><style:page-master style:name="PM1"><style:properties fo:page-width="28cm" fo:page-height="21cm"/></style:page-master></office:automatic-styles><office:master-styles><style:master-page style:name="Default" style:page-master-name="PM1"/></office:master-styles>',
    );
  return {
    mimetype: mediaType,
    'content.xml': openOfficeOne(kind, body),
    'styles.xml': styles,
    'META-INF/manifest.xml': `<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="http://openoffice.org/2001/manifest"><manifest:file-entry manifest:media-type="${mediaType}" manifest:full-path="/"/><manifest:file-entry manifest:media-type="text/xml" manifest:full-path="content.xml"/><manifest:file-entry manifest:media-type="text/xml" manifest:full-path="styles.xml"/></manifest:manifest>`,
  };
}

const oneText = `<text:h text:level="1">${heading}</text:h>${paragraphs.map((line) => `<text:p>${line}</text:p>`).join('')}`;
const oneTable = odfTable
  .replaceAll('office:value-type', 'table:value-type')
  .replaceAll('office:value=', 'table:value=');
const onePage = (lines: string[]) =>
  page(lines)
    .replaceAll(/<draw:frame ([^>]*)><draw:text-box>/g, '<draw:text-box $1>')
    .replaceAll('</draw:text-box></draw:frame>', '</draw:text-box>');

const one: Record<string, { kind: string; body: string }> = {
  sxw: { kind: 'text', body: oneText },
  stw: { kind: 'text', body: oneText },
  sxc: { kind: 'spreadsheet', body: oneTable },
  stc: { kind: 'spreadsheet', body: oneTable },
  sxi: { kind: 'presentation', body: onePage(paragraphs) + onePage([heading]) },
  sxd: { kind: 'drawing', body: onePage(paragraphs) },
};

const [first = '', second = ''] = paragraphs;
const plain = `${heading}\n\n${first}\n\n${second}\n`;
const html = `<html><head><meta charset="utf-8"><title>Sample</title></head><body><h1>${heading}</h1><p>${first}</p><p>${second}</p></body></html>`;

/** Samples that a person would type. */
const typed: Record<string, string> = {
  ...flat,
  txt: plain,
  html,
  xhtml: `<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Sample</title></head><body><h1>${heading}</h1><p>${first}</p><p>${second}</p></body></html>`,
  abw: `<?xml version="1.0" encoding="UTF-8"?>\n<abiword xmlns="http://www.abisource.com/awml.dtd" version="3.0.0" fileformat="1.1" xml:space="preserve"><section><p style="Heading 1">${heading}</p><p>${first}</p><p>${second}</p></section></abiword>`,
  csv: cells.map((row) => row.join(',')).join('\n'),
  tsv: cells.map((row) => row.join('\t')).join('\n'),
  slk: sylk(),
  md: `# ${heading}\n\n${first}\n\n${second}\n`,
  rst: `${heading}\n==============\n\n${first}\n\n${second}\n`,
  tex: `\\documentclass{article}\n\\begin{document}\n\\section{${heading}}\n${first}\n\n${second}\n\\end{document}\n`,
  docbook: `<?xml version="1.0" encoding="UTF-8"?>\n<article xmlns="http://docbook.org/ns/docbook" version="5.0"><section><title>${heading}</title><para>${first}</para><para>${second}</para></section></article>`,
  jats: `<?xml version="1.0" encoding="UTF-8"?>\n<article><front><article-meta></article-meta></front><body><sec><title>${heading}</title><p>${first}</p><p>${second}</p></sec></body></article>`,
  fb2: `<?xml version="1.0" encoding="UTF-8"?>\n<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><book-title>Sample</book-title></title-info></description><body><section><title><p>${heading}</p></title><p>${first}</p><p>${second}</p></section></body></FictionBook>`,
  opml: `<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0"><head><title>Sample</title></head><body><outline text="${heading}" _note="${first}&#10;&#10;${second}"/></body></opml>`,
  org: `* ${heading}\n\n${first}\n\n${second}\n`,
  mediawiki: `= ${heading} =\n\n${first}\n\n${second}\n`,
  textile: `h1. ${heading}\n\n${first}\n\n${second}\n`,
  ipynb: JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [{ id: 'a', cell_type: 'markdown', metadata: {}, source: [`# ${heading}\n\n`, `${first}\n\n`, second] }],
  }),
  jira: `h1. ${heading}\n\n${first}\n\n${second}\n`,
  muse: `* ${heading}\n\n${first}\n\n${second}\n`,
  t2t: `Title\nAuthor\nDate\n\n= ${heading} =\n\n${first}\n\n${second}\n`,
  creole: `= ${heading}\n\n${first}\n\n${second}\n`,
  dokuwiki: `====== ${heading} ======\n\n${first}\n\n${second}\n`,
  tikiwiki: `! ${heading}\n\n${first}\n\n${second}\n`,
  twiki: `---+ ${heading}\n\n${first}\n\n${second}\n`,
  vimwiki: `= ${heading} =\n\n${first}\n\n${second}\n`,
  haddock: `= ${heading}\n\n${first}\n\n${second}\n`,
  man: `.TH SAMPLE 1\n.SH ${heading}\n${first}\n.PP\n${second}\n`,
  ps: `%!PS-Adobe-3.0\n%%Pages: 1\n%%BoundingBox: 0 0 595 842\n<< /PageSize [595 842] >> setpagedevice\n/Helvetica findfont 24 scalefont setfont\n72 700 moveto (Lathe turns things) show\n72 660 moveto (This comes final) show\nshowpage\n`,
};

function sylk(): string {
  const lines = cells.flatMap((row, y) =>
    row.map((cell, x) => `C;Y${y + 1};X${x + 1};K${typeof cell === 'number' ? cell : `"${cell}"`}`),
  );
  return `ID;PSample\n${lines.join('\n')}\nE\n`;
}

function rtf(): Buffer {
  const escaped = (text: string) =>
    [...text].map((letter) => ((letter.codePointAt(0) ?? 0) > 127 ? `\\u${letter.codePointAt(0)}?` : letter)).join('');
  const lines = [heading, ...paragraphs].map((line) => `\\pard ${escaped(line)}\\par`);
  return Buffer.from(`{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Liberation Serif;}}\n${lines.join('\n')}\n}`);
}

function gnumeric(): Buffer {
  const filled = cells.flatMap((row, y) =>
    row.map(
      (cell, x) =>
        `<gnm:Cell Row="${y}" Col="${x}" ValueType="${typeof cell === 'number' ? 40 : 60}">${cell}</gnm:Cell>`,
    ),
  );
  return gzipSync(`<?xml version="1.0" encoding="UTF-8"?>
<gnm:Workbook xmlns:gnm="http://www.gnumeric.org/v10.dtd"><gnm:Version Epoch="1" Major="12" Minor="55" Full="1.12.55"/><gnm:SheetNameIndex><gnm:SheetName>Data</gnm:SheetName></gnm:SheetNameIndex><gnm:Sheets><gnm:Sheet><gnm:Name>Data</gnm:Name><gnm:MaxCol>1</gnm:MaxCol><gnm:MaxRow>3</gnm:MaxRow><gnm:Cells>${filled.join('')}</gnm:Cells></gnm:Sheet></gnm:Sheets></gnm:Workbook>`);
}

/** Lotus 1-2-3 release 2: records of type, length and content. Its letters are of one byte, so Latin only. */
function lotus(): Buffer {
  const record = (type: number, body: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(type, 0);
    head.writeUInt16LE(body.length, 2);
    return Buffer.concat([head, body]);
  };
  const filled = lotusCells.flatMap((row, y) =>
    row.map((cell, x) => {
      const place = Buffer.from([0xff, x, 0, y, 0]);
      if (typeof cell === 'string') return record(0x0f, Buffer.concat([place, Buffer.from(`'${cell}\0`, 'latin1')]));
      const value = Buffer.alloc(8);
      value.writeDoubleLE(cell);
      return record(0x0e, Buffer.concat([place, value]));
    }),
  );
  return Buffer.concat([record(0, Buffer.from([0x06, 0x04])), ...filled, record(1, Buffer.alloc(0))]);
}

export const lotusCells: (string | number)[][] = [
  ['Name', 'Wert'],
  ['Lathe', 42.5],
  ['final', 1234567],
];

/** WordPerfect 5.1: a header that points at text in which a line ends with a hard return. */
function wordPerfect(): Buffer {
  const header = Buffer.alloc(16);
  header.set([0xff, 0x57, 0x50, 0x43]);
  header.writeUInt32LE(16, 4);
  header.set([1, 10, 0, 1], 8);
  return Buffer.concat([header, Buffer.from(`${heading}\nLathe turns things.\nThis comes final.\n`, 'latin1')]);
}

function wmf(): Buffer {
  const record = (code: number, ...words_: number[]) => {
    const body = Buffer.alloc(6 + words_.length * 2);
    body.writeUInt32LE(body.length / 2, 0);
    body.writeUInt16LE(code, 4);
    for (const [index, word] of words_.entries()) body.writeInt16LE(word, 6 + index * 2);
    return body;
  };
  const text = (line: string, x: number, y: number) => {
    const letters = Buffer.from(line.length % 2 ? `${line} ` : line, 'latin1');
    const pairs = Array.from({ length: letters.length / 2 }, (_, index) => letters.readInt16LE(index * 2));
    return record(0x0521, letters.length, ...pairs, y, x);
  };
  const font = record(0x02fb, 300, 0, 0, 0, 400, 0, 0, 0, 0x2020, ...Array.from({ length: 15 }, () => 0x2020));
  font.write('Arial\0', 24, 'latin1');
  const records = [
    record(0x020b, 0, 0),
    record(0x020c, 3000, 6000),
    font,
    record(0x012d, 0),
    text('Lathe turns things', 300, 300),
    text('This comes final', 300, 1200),
    record(0x041b, 2800, 5800, 2000, 200),
    record(0),
  ];
  const placeable = Buffer.alloc(22);
  placeable.writeUInt32LE(0x9ac6cdd7, 0);
  placeable.writeInt16LE(6000, 10);
  placeable.writeInt16LE(3000, 12);
  placeable.writeUInt16LE(1000, 14);
  let sum = 0;
  for (let at = 0; at < 20; at += 2) sum ^= placeable.readUInt16LE(at);
  placeable.writeUInt16LE(sum, 20);
  const header = Buffer.alloc(18);
  header.set([1, 0, 9, 0, 0, 3]);
  header.writeUInt32LE((18 + records.reduce((total, { length }) => total + length, 0)) / 2, 6);
  header.writeUInt16LE(1, 10);
  header.writeUInt32LE(Math.max(...records.map(({ length }) => length / 2)), 12);
  return Buffer.concat([placeable, header, ...records]);
}

const relationships = 'http://schemas.openxmlformats.org/package/2006/relationships';
const visioNames = 'http://schemas.microsoft.com/visio/2010/relationships';

function visio(mediaType: string): Record<string, string> {
  const relations = (...items: [string, string][]) =>
    `<?xml version="1.0"?><Relationships xmlns="${relationships}">${items.map(([type, target], index) => `<Relationship Id="rId${index + 1}" Type="${type}" Target="${target}"/>`).join('')}</Relationships>`;
  const shape = (line: string, id: number) =>
    `<Shape ID="${id}" Type="Shape"><Cell N="PinX" V="4"/><Cell N="PinY" V="${9 - id * 2}"/><Cell N="Width" V="6"/><Cell N="Height" V="1"/><Cell N="LocPinX" V="3"/><Cell N="LocPinY" V="0.5"/><Section N="Geometry" IX="0"><Row T="MoveTo" IX="1"><Cell N="X" V="0"/><Cell N="Y" V="0"/></Row><Row T="LineTo" IX="2"><Cell N="X" V="6"/><Cell N="Y" V="0"/></Row><Row T="LineTo" IX="3"><Cell N="X" V="6"/><Cell N="Y" V="1"/></Row><Row T="LineTo" IX="4"><Cell N="X" V="0"/><Cell N="Y" V="0"/></Row></Section><Text>${line}</Text></Shape>`;
  const main = 'http://schemas.microsoft.com/office/visio/2012/main';
  return {
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/visio/document.xml" ContentType="${mediaType}.main+xml"/><Override PartName="/visio/pages/pages.xml" ContentType="application/vnd.ms-visio.pages+xml"/><Override PartName="/visio/pages/page1.xml" ContentType="application/vnd.ms-visio.page+xml"/></Types>`,
    '_rels/.rels': relations([`${visioNames}/document`, 'visio/document.xml']),
    'visio/document.xml': `<?xml version="1.0"?><VisioDocument xmlns="${main}"><FaceNames><FaceName NameU="Calibri" /></FaceNames></VisioDocument>`,
    'visio/_rels/document.xml.rels': relations([`${visioNames}/pages`, 'pages/pages.xml']),
    'visio/pages/pages.xml': `<?xml version="1.0"?><Pages xmlns="${main}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><Page ID="0" NameU="Page-1" Name="Page-1"><PageSheet><Cell N="PageWidth" V="8.5"/><Cell N="PageHeight" V="11"/></PageSheet><Rel r:id="rId1"/></Page></Pages>`,
    'visio/pages/_rels/pages.xml.rels': relations([`${visioNames}/page`, 'page1.xml']),
    'visio/pages/page1.xml': `<?xml version="1.0"?><PageContents xmlns="${main}"><Shapes>${paragraphs.map((line, index) => shape(line, index + 1)).join('')}</Shapes></PageContents>`,
  };
}

/** Macro-enabled files and templates differ from the plain ones in one media type. */
const variants: Record<string, { base: string; from: string; to: string }> = {
  docm: {
    base: 'docx',
    from: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
    to: 'application/vnd.ms-word.document.macroEnabled.main+xml',
  },
  dotx: { base: 'docx', from: 'wordprocessingml.document.main', to: 'wordprocessingml.template.main' },
  dotm: {
    base: 'docx',
    from: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
    to: 'application/vnd.ms-word.template.macroEnabledTemplate.main+xml',
  },
  xlsm: {
    base: 'xlsx',
    from: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
    to: 'application/vnd.ms-excel.sheet.macroEnabled.main+xml',
  },
  xltx: { base: 'xlsx', from: 'spreadsheetml.sheet.main', to: 'spreadsheetml.template.main' },
  xltm: {
    base: 'xlsx',
    from: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
    to: 'application/vnd.ms-excel.template.macroEnabled.main+xml',
  },
  pptm: {
    base: 'pptx',
    from: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
    to: 'application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml',
  },
  ppsx: { base: 'pptx', from: 'presentationml.presentation.main', to: 'presentationml.slideshow.main' },
  ppsm: {
    base: 'pptx',
    from: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
    to: 'application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml',
  },
  potx: { base: 'pptx', from: 'presentationml.presentation.main', to: 'presentationml.template.main' },
  potm: {
    base: 'pptx',
    from: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
    to: 'application/vnd.ms-powerpoint.template.macroEnabled.main+xml',
  },
  ott: { base: 'odt', from: 'opendocument.text', to: 'opendocument.text-template' },
  ots: { base: 'ods', from: 'opendocument.spreadsheet', to: 'opendocument.spreadsheet-template' },
  otp: { base: 'odp', from: 'opendocument.presentation', to: 'opendocument.presentation-template' },
  otg: { base: 'odg', from: 'opendocument.graphics', to: 'opendocument.graphics-template' },
};

/** What only LibreOffice writes, from a flat file of ours, by a process of its own. */
const bySoffice: Record<string, string> = {
  doc: 'fodt',
  dot: 'fodt',
  pdf: 'fodt',
  ods: 'fods',
  xls: 'fods',
  xlt: 'fods',
  odp: 'fodp',
  ppt: 'fodp',
  pps: 'fodp',
  pot: 'fodp',
  odg: 'fodg',
  emf: 'fodg',
};

const minimalXlsx = () => {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const rows = cells.map((row, y) => {
    const filled = row.map((cell, x) => {
      const place = `${'AB'[x]}${y + 1}`;
      return typeof cell === 'number'
        ? `<c r="${place}"><v>${cell}</v></c>`
        : `<c r="${place}" t="inlineStr"><is><t>${cell}</t></is></c>`;
    });
    return `<row r="${y + 1}">${filled.join('')}</row>`;
  });
  return {
    '[Content_Types].xml': `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
    '_rels/.rels': `<?xml version="1.0"?><Relationships xmlns="${relationships}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<?xml version="1.0"?><workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<?xml version="1.0"?><Relationships xmlns="${relationships}"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<?xml version="1.0"?><worksheet xmlns="${main}"><sheetData>${rows.join('')}</sheetData></worksheet>`,
  };
};

/** What programs made, which start slowly. */
const programsMade = new Map<string, Buffer>();

/** Writes the sample of a format to a folder, next to the files that it is made from. */
export async function makeSample(format: string, folder: string): Promise<string> {
  const path = join(folder, `sample.${format}`);
  await mkdir(dirname(path), { recursive: true });
  const known = programsMade.get(format);
  if (known) return write(path, known);
  const text = typed[format];
  if (text !== undefined) return write(path, text);
  const foreign = shipped[format];
  if (foreign) return write(path, await readFile(foreign.path));
  const old = one[format];
  if (old) return zip(path, openOfficeOneParts(old.kind, officeFormat(format)?.mediaType ?? '', old.body));
  const variant = variants[format];
  if (variant) return makeVariant(path, variant, folder);
  const base = bySoffice[format];
  if (base) return remember(format, await makeBySoffice(path, format, base, folder));
  switch (format) {
    case 'docx':
    case 'odt':
    case 'pptx':
    case 'epub':
      return remember(format, await pandoc(await makeSample('md', folder), 'markdown', format, path));
    case 'xlsx':
      return zip(path, minimalXlsx());
    case 'rtf':
      return write(path, rtf());
    case 'gnumeric':
      return write(path, gnumeric());
    case 'wk1':
      return write(path, lotus());
    case 'wpd':
      return write(path, wordPerfect());
    case 'wmf':
      return write(path, wmf());
    case 'vsdx':
    case 'vsdm':
    case 'vstx':
      return zip(path, visio(officeFormat(format)?.mediaType ?? ''));
    default:
      throw new Error(`No sample of ${format} can be made${markupFormat(format) ? ', though it is markup' : ''}.`);
  }
}

async function remember(format: string, path: string): Promise<string> {
  programsMade.set(format, await readFile(path));
  return path;
}

async function write(path: string, content: string | Uint8Array): Promise<string> {
  await writeFile(path, content);
  return path;
}

async function makeVariant(
  path: string,
  { base, from, to }: { base: string; from: string; to: string },
  folder: string,
) {
  const parts = await unzip(await makeSample(base, folder));
  for (const name of ['[Content_Types].xml', 'mimetype', 'META-INF/manifest.xml']) {
    const part = parts[name];
    if (part) parts[name] = Buffer.from(part.toString().replaceAll(from, to));
  }
  return zip(path, parts);
}

async function makeBySoffice(path: string, format: string, base: string, folder: string): Promise<string> {
  const source = join(folder, `base-${format}.${base}`);
  await copyFile(await makeSample(base, folder), source);
  const exporter = officeFormat(format)?.writes;
  const made = await soffice(source, format === 'pdf' || format === 'emf' ? format : `${format}:${exporter}`, folder);
  await rename(made, path);
  return path;
}
