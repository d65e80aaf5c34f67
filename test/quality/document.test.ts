import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { unzip, zip } from '../engines/document/samples.ts';
import { program, programTo } from '../engines/image/programs.ts';
import { eachTo, type QualityCase, testQuality } from './case.ts';
import { each, ink, only, pdfFonts, sheets, tags, text } from './readers.ts';

/** Writes a file with this content. */
const file = (name: string, content: string | Uint8Array) => async (folder: string) => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

/** Writes a text in another encoding by iconv. */
const encoded = (name: string, encoding: string, content: string) => async (folder: string) => {
  const source = await file('source', content)(folder);
  const path = join(folder, name);
  await programTo(path, 'iconv', '-f', 'UTF-8', '-t', encoding, source);
  return path;
};

/** Texts without a declaration of their encoding. */
const undeclared: [name: string, encoding: string, content: string][] = [
  ['names.csv', 'SHIFT_JIS', '氏名,住所\n山田太郎,東京都千代田区丸の内\n佐藤花子,大阪府大阪市北区\n'],
  ['greeting.txt', 'SHIFT_JIS', 'これは日本語のテキストです。'],
  ['mail.txt', 'ISO-2022-JP', 'これは日本語のテキストです。'],
  ['names.csv', 'WINDOWS-1251', 'Имя,Город\nИван Петров,Москва\nАнна Смирнова,Санкт-Петербург\n'],
  ['greeting.txt', 'WINDOWS-1251', 'Привет, мир! Это проверка кодировки текста.'],
  ['greeting.md', 'KOI8-R', 'Привет, мир! Это проверка кодировки текста.'],
  ['names.csv', 'GBK', '姓名,地址\n张伟,北京市海淀区中关村大街\n王芳,上海市浦东新区\n'],
  ['greeting.txt', 'GBK', '这是一个中文文本文件，用来检查编码识别是否正确。'],
  ['greeting.rst', 'BIG5', '這是一個繁體中文的文字檔案，用來檢查編碼識別是否正確。'],
  ['greeting.txt', 'EUC-KR', '이것은 한국어 텍스트 파일입니다.'],
  ['names.csv', 'UTF-16LE', 'Name,City\nJürgen,Köln\n'],
  ['names.csv', 'WINDOWS-1252', 'Name,City\nJürgen Größe,Köln\nÄnne Müller,Düsseldorf\n'],
  ['greeting.txt', 'WINDOWS-1253', 'Καλημέρα κόσμε! Αυτός είναι ένας έλεγχος.'],
  ['greeting.md', 'WINDOWS-1256', 'مرحبا بالعالم! هذا ملف نصي باللغة العربية.'],
  ['greeting.html', 'WINDOWS-1251', '<p>Привет, мир! Это проверка кодировки текста.</p>'],
];

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const xml = '<?xml version="1.0" encoding="UTF-8"?>';

type Cell = string | number | { value: number; format: string };
interface SheetContent {
  name: string;
  state?: 'hidden';
  rows: Cell[][];
}

/** Writes a workbook as Excel does, with the format codes of its cells. */
const workbook = (...content: SheetContent[]) => {
  const formats = [
    ...new Set(
      content.flatMap(({ rows }) => rows.flat().flatMap((cell) => (typeof cell === 'object' ? [cell.format] : []))),
    ),
  ];
  const cell = (value: Cell) => {
    if (typeof value === 'string') return `<c t="inlineStr"><is><t>${value}</t></is></c>`;
    if (typeof value === 'number') return `<c><v>${value}</v></c>`;
    return `<c s="${formats.indexOf(value.format) + 1}"><v>${value.value}</v></c>`;
  };
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const numbered = content.map((sheet, index) => ({ ...sheet, number: index + 1 }));
  const parts: Record<string, string> = {
    '[Content_Types].xml': `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/>${numbered.map(({ number }) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${type}.worksheet+xml"/>`).join('')}</Types>`,
    '_rels/.rels': `${xml}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${xml}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${numbered.map(({ name, state, number }) => `<sheet name="${name}" sheetId="${number}"${state ? ` state="${state}"` : ''} r:id="rId${number}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${xml}<Relationships xmlns="${relations}">${numbered.map(({ number }) => `<Relationship Id="rId${number}" Type="${office}/worksheet" Target="worksheets/sheet${number}.xml"/>`).join('')}<Relationship Id="rId0" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `${xml}<styleSheet xmlns="${main}"><numFmts>${formats.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code.replaceAll('"', '&quot;')}"/>`).join('')}</numFmts><fonts><font><sz val="11"/><name val="Calibri"/></font></fonts><fills><fill><patternFill patternType="none"/></fill></fills><borders><border/></borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf/>${formats.map((_, index) => `<xf numFmtId="${164 + index}" applyNumberFormat="1"/>`).join('')}</cellXfs></styleSheet>`,
  };
  for (const { number, rows } of numbered)
    parts[`xl/worksheets/sheet${number}.xml`] =
      `${xml}<worksheet xmlns="${main}"><sheetData>${rows.map((row) => `<row>${row.map(cell).join('')}</row>`).join('')}</sheetData></worksheet>`;
  return (folder: string) => zip(join(folder, 'book.xlsx'), parts);
};

/** Five past one in the afternoon, as Excel counts; 46085 is the 4th of March 2026. */
const time = (13 * 60 + 5) / 1440;
const shown = (value: number, format: string): Cell => ({ value, format });
const dates = workbook(
  {
    name: 'Data',
    rows: [
      [
        shown(46085, 'dd/mm/yyyy'),
        shown(46085, 'dd.mm.yyyy'),
        shown(46085, 'd\\-mmm\\-yy'),
        shown(time, 'hh:mm'),
        shown(46085 + time, 'yyyy\\-mm\\-dd hh:mm'),
        shown(1.25, '[h]:mm'),
        shown(1234.5, '#,##0.00\\ "€"'),
        shown(1234, '00000'),
        shown(0.256, '0.0%'),
        0.1 + 0.2,
      ],
    ],
  },
  { name: 'Secret', state: 'hidden', rows: [['secret']] },
  { name: 'Blank', rows: [] },
  { name: 'More', rows: [['x', 1]] },
);
const hiddenLeft = 'The hidden sheet "Secret" was left out. Set hidden_sheets to convert hidden sheets, too.';
const contents = async (outputs: Parameters<ReturnType<typeof each>>[0]) => {
  const texts = await each(text)(outputs);
  return Object.fromEntries(outputs.map(({ name }, index) => [name, texts[index]]));
};

const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const drawing = 'http://schemas.openxmlformats.org/drawingml/2006';

/** Writes a document as Word does, with footnotes by their number and pictures as image1.png, image2.png and so on. */
const textDocument = (body: string, { notes = [], pictures = [] }: { notes?: string[]; pictures?: Buffer[] } = {}) => {
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
  const parts: Record<string, string | Uint8Array> = {
    '[Content_Types].xml': `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ContentType="${type}.document.main+xml"/><Override PartName="/word/footnotes.xml" ContentType="${type}.footnotes+xml"/></Types>`,
    '_rels/.rels': `${xml}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `${xml}<w:document xmlns:w="${word}" xmlns:r="${office}" xmlns:wp="${drawing}/wordprocessingDrawing" xmlns:a="${drawing}/main" xmlns:pic="${drawing}/picture"><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': `${xml}<Relationships xmlns="${relations}"><Relationship Id="notes" Type="${office}/footnotes" Target="footnotes.xml"/>${pictures.map((_, index) => `<Relationship Id="picture${index + 1}" Type="${office}/image" Target="media/image${index + 1}.png"/>`).join('')}</Relationships>`,
    'word/footnotes.xml': `${xml}<w:footnotes xmlns:w="${word}">${notes.map((note, index) => `<w:footnote w:id="${index + 1}">${paragraph(`<w:r><w:footnoteRef/></w:r>${run(` ${note}`)}`)}</w:footnote>`).join('')}</w:footnotes>`,
  };
  for (const [index, picture] of pictures.entries()) parts[`word/media/image${index + 1}.png`] = picture;
  return (folder: string) => zip(join(folder, 'letter.docx'), parts);
};
const paragraph = (content: string) => `<w:p>${content}</w:p>`;
const run = (content: string, font = '') =>
  `<w:r>${font && `<w:rPr><w:rFonts w:ascii="${font}" w:hAnsi="${font}" w:cs="${font}"/></w:rPr>`}<w:t xml:space="preserve">${content}</w:t></w:r>`;
const footnote = (number: number) => `<w:r><w:footnoteReference w:id="${number}"/></w:r>`;
const change = 'w:id="1" w:author="A" w:date="2026-03-04T00:00:00Z"';
const picture = (number: number, description: string) =>
  `<w:r><w:drawing><wp:inline><wp:extent cx="952500" cy="476250"/><wp:docPr id="${number}" name="Picture" descr="${description}"/><a:graphic><a:graphicData uri="${drawing}/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="${number}" name="x"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="picture${number}"/></pic:blipFill><pic:spPr><a:xfrm><a:ext cx="952500" cy="476250"/></a:xfrm></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;

const reviewed = textDocument(
  paragraph(
    `${run('Before ')}<w:del ${change}><w:r><w:delText xml:space="preserve">deleted </w:delText></w:r></w:del><w:ins ${change}>${run('inserted ')}</w:ins>${run('after')}${footnote(1)}${run('.')}`,
  ) + paragraph(`${run('More')}${footnote(2)}`),
  { notes: ['First note', 'Second note'] },
);

/** A paragraph with a text box, as Word writes it for its own versions since 2010. */
const boxed = textDocument(
  paragraph(
    `${run('Before')}<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" Requires="wps"><w:drawing><wp:inline><wp:extent cx="2000000" cy="500000"/><wp:docPr id="5" name="Box"/><a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="2000000" cy="500000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr><wps:txbx><w:txbxContent>${paragraph(run('In a box'))}</w:txbxContent></wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice></mc:AlternateContent></w:r>`,
  ) + paragraph(run('After')),
);

/** A red picture of 3 by 2 pixels. */
const red = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==',
  'base64',
);
const redUri = `data:image/png;base64,${red.toString('base64')}`;
const illustrated = textDocument(paragraph(`${run('Look: ')}${picture(1, 'a red box')}`), { pictures: [red] });
/** Reads the bytes of the pictures in a package, without regard to their names. */
const packedPictures = async (path: string) =>
  Object.entries(await unzip(path)).flatMap(([name, bytes]) =>
    /^(?!Thumb).*\.png$/.test(name) ? [bytes.toString('base64')] : [],
  );
/** Reads the sizes of the pictures in a PDF by poppler. */
const pdfPictures = async (path: string) =>
  [...(await program('pdfimages', '-list', path)).toString().matchAll(/^ *\d+ +\d+ +image +(\d+) +(\d+)/gm)].map(
    ([, width, height]) => `${width}x${height}`,
  );
const htmlTitle = async (path: string) => /<title>(.*?)<\/title>/.exec(await text(path))?.[1];
const described = `---\ntitle: Tools & Parts\n---\n\n![red](${redUri})\n\n![relative](pictures/b.png)\n`;
const leftOut =
  'Pictures that are not in the file were left out: pictures/b.png. Embed them as data URIs, or convert a docx, odt or epub file that contains them.';

const addresses = `id,phone,zip,count,price,account,when,code
1,+4915112345,01234,42,1.50,12345678901234567890,2026-03-04,A12
2,+4915112346,00501,-7,12.00,98765432109876543210,04/03/2026,12
`;

const cases: QualityCase[] = [
  {
    name: 'a workbook becomes CSV as its cells are shown, without hidden and empty sheets',
    input: dates,
    to: 'csv',
    read: contents,
    expected: {
      'book-Data.csv': '04/03/2026,04.03.2026,4-Mar-26,13:05,2026-03-04 13:05,30:00,"1,234.50 €",01234,25.6%,0.3\n',
      'book-More.csv': 'x,1\n',
    },
    warnings: [hiddenLeft],
    usual: true,
  },
  {
    name: 'a workbook becomes CSV with dates as in ISO 8601',
    input: dates,
    to: 'csv',
    options: { cell_values: 'iso', sheet: 1 },
    read: contents,
    expected: {
      'book.csv': '2026-03-04,2026-03-04,2026-03-04,13:05:00,2026-03-04T13:05:00,30:00:00,1234.5,1234,0.256,0.3\n',
    },
  },
  {
    name: 'a workbook becomes CSV with the stored values',
    input: dates,
    to: 'tsv',
    options: { cell_values: 'raw', hidden_sheets: true, empty_sheets: true },
    read: contents,
    expected: {
      'book-Data.tsv': '46085\t46085\t46085\t0.545138888888889\t46085.5451388889\t1.25\t1234.5\t1234\t0.256\t0.3\n',
      'book-Secret.tsv': 'secret\n',
      'book-Blank.tsv': '\n',
      'book-More.tsv': 'x\t1\n',
    },
  },
  {
    name: 'a CSV file becomes a sheet of its name, with numbers that keep every digit',
    input: file('Kunden 2026.csv', addresses),
    to: 'xlsx',
    read: only(sheets),
    expected: {
      'Kunden 2026': [
        ['id', 'phone', 'zip', 'count', 'price', 'account', 'when', 'code'],
        [1, '+4915112345', '01234', 42, 1.5, '12345678901234567890', '2026-03-04', 'A12'],
        [2, '+4915112346', '00501', -7, 12, '98765432109876543210', '04/03/2026', '12'],
      ],
    },
    usual: true,
  },
  {
    name: 'a CSV file becomes a sheet of text only',
    input: file('plain.csv', 'a,b\n1,2.50\n'),
    to: 'xlsx',
    options: { column_types: 'text' },
    read: only(sheets),
    expected: {
      plain: [
        ['a', 'b'],
        ['1', '2.50'],
      ],
    },
  },
  {
    name: 'a CSV file becomes a sheet of whatever it looks like',
    input: file('any.csv', 'a,b,c\n007,2.50,2026-03-04\n'),
    to: 'xlsx',
    options: { column_types: 'detect' },
    read: only(sheets),
    expected: {
      any: [
        ['a', 'b', 'c'],
        [7, 2.5, '2026-03-04 00:00:00'],
      ],
    },
  },
  {
    name: 'a CSV file with semicolons and decimal commas becomes a sheet of numbers',
    input: file('preise.csv', 'Name;Preis;Menge\nSchraube;1,50;2\nMutter;1234,25;3\n'),
    to: 'xlsx',
    read: only(sheets),
    expected: {
      preise: [
        ['Name', 'Preis', 'Menge'],
        ['Schraube', 1.5, 2],
        ['Mutter', 1234.25, 3],
      ],
    },
  },
  {
    name: 'a CSV file with nothing but decimal commas is divided at its semicolons',
    input: file('pairs.csv', '1,5;2,5\n3,5;4,5\n'),
    to: 'tsv',
    read: only(text),
    expected: '1,5\t2,5\n3,5\t4,5\n',
  },
  {
    name: 'versions in a CSV file are no numbers',
    input: file('versions.csv', 'version\n1.9\n1.10\n'),
    to: 'xlsx',
    read: only(sheets),
    expected: { versions: [['version'], ['1.9'], ['1.10']] },
  },
  {
    name: 'a reviewed document becomes text with its changes accepted and its footnotes at the end',
    input: reviewed,
    to: 'txt',
    read: async (outputs) => (await only(text)(outputs)).replace('\ufeff', ''),
    expected: 'Before inserted after[1].\nMore[2]\n[1] First note\n[2] Second note\n',
    usual: true,
  },
  {
    name: 'a reviewed document becomes HTML with its changes accepted',
    input: reviewed,
    to: 'html',
    read: only(async (path) => ({ title: await htmlTitle(path), deleted: (await text(path)).includes('deleted') })),
    expected: { title: 'letter', deleted: false },
  },
  ...eachTo(['txt', 'md'], (to) => ({
    name: `text boxes are in the ${to}`,
    input: boxed,
    read: only(async (path) => (await text(path)).match(/[A-Z][a-z ]+/g)),
    expected: ['Before', 'In a box', 'After'],
  })),
  {
    name: 'a book has an identifier of its own and the time at which it was made',
    input: async (folder) => [await file('a.md', 'A\n')(folder), await file('b.md', 'B\n')(folder)],
    to: 'epub',
    read: async (outputs) => {
      const found = await each(tags('Identifier', 'Date', 'Title'))(outputs);
      const identifiers = new Set(found.map(({ Identifier }) => Identifier));
      return { identifiers: identifiers.size, years: found.map(({ Date: date }) => String(date).slice(0, 4)) };
    },
    expected: { identifiers: 2, years: Array(2).fill(String(new Date().getFullYear())) },
  },
  ...eachTo(['docx', 'odt', 'pptx'], (to) => ({
    name: `a ${to} of Markdown has the time at which it was made`,
    input: file('a.md', 'A\n'),
    read: only(async (path) => JSON.stringify(await tags('CreateDate', 'Creation-date')(path)).includes('1970')),
    expected: false,
  })),
  {
    name: 'formulas of a document are in its text',
    input: textDocument(
      paragraph(
        `<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>a+b</m:t></m:r></m:oMath>`,
      ),
    ),
    to: 'txt',
    read: only(async (path) => (await text(path)).replaceAll(/[\s\ufeff]/g, '')),
    expected: 'a+b',
  },
  {
    name: 'a workbook becomes a page with the name of its file, without hidden sheets',
    input: dates,
    to: 'html',
    read: only(async (path) => ({ title: await htmlTitle(path), hidden: (await text(path)).includes('secret') })),
    expected: { title: 'book', hidden: false },
  },
  {
    name: 'a CSV file may name its delimiter in the first line',
    input: file('named.csv', 'sep=|\r\na,b|c\r\n1|2\r\n'),
    to: 'tsv',
    read: only(text),
    expected: 'a,b\tc\n1\t2\n',
  },
  {
    name: 'line ends, quotes and delimiters in cells of a CSV file stay',
    input: file('cells.csv', '\ufeffName;Value\r\n"Line 1\nLine 2";"a;b ""q"""\r\n'),
    to: 'xlsx',
    read: only(sheets),
    expected: {
      cells: [
        ['Name', 'Value'],
        ['Line 1\nLine 2', 'a;b "q"'],
      ],
    },
  },
  {
    name: 'what looks like a formula in a CSV file is text',
    input: file('formulas.csv', 'a,b\n=1+1,@x\n'),
    to: 'xlsx',
    read: only(sheets),
    expected: {
      formulas: [
        ['a', 'b'],
        ['=1+1', '@x'],
      ],
    },
  },
  {
    name: 'the pictures of a document are embedded in Markdown',
    input: illustrated,
    to: 'md',
    options: { images: 'embedded' },
    read: only(async (path) => (await text(path)).trim()),
    expected: `Look: ![a red box](${redUri})`,
    usual: true,
  },
  {
    name: 'the pictures of a document are left out of text that holds none, with a warning',
    input: illustrated,
    to: 'org',
    read: only(async (path) => (await text(path)).trim()),
    expected: 'Look: a red box',
    warnings: [
      'Pictures were left out, as the output is text without them: image1.png. Formats that keep them are md, html, docx, odt and epub.',
    ],
  },
  ...eachTo(['docx', 'odt', 'epub'], (to) => ({
    name: `a picture as a data URI in Markdown is in the ${to}, and one that is elsewhere is named`,
    input: file('parts.md', described),
    read: only(packedPictures),
    expected: [red.toString('base64')],
    warnings: [leftOut],
  })),
  {
    name: 'a picture as a data URI in Markdown is in the PDF',
    input: file('parts.md', described),
    to: 'pdf',
    read: only(pdfPictures),
    expected: ['3x2'],
    warnings: [leftOut],
  },
  {
    name: 'a picture as a data URI in HTML is in the book',
    input: file('parts.html', `<p>Look: <img src="${redUri}"><img src="pictures/b.png"></p>`),
    to: 'epub',
    read: only(packedPictures),
    expected: [red.toString('base64')],
    warnings: [leftOut],
  },
  {
    name: 'Markdown becomes a page with the title of its front matter',
    input: file('parts.md', described),
    to: 'html',
    read: only(htmlTitle),
    expected: 'Tools &amp; Parts',
  },
  {
    name: 'Markdown without a title becomes a page with the name of its file',
    input: file('Tools & Parts.md', '# Heading\n'),
    to: 'html',
    read: only(htmlTitle),
    expected: 'Tools &amp; Parts',
  },
  {
    name: 'Markdown is read as GitHub reads it: lists right after text, bare links, tables, tasks',
    input: file('readme.md', 'See https://example.com:\n- [x] one\n- two\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |\n'),
    to: 'txt',
    read: only(text),
    expected: expect.stringMatching(
      /^See https:\/\/example\.com:\n\n-\s+☒ one\s+-\s+two\n\n {2}a\s+b\n {2}-+ -+\n {2}1\s+~~2~~\n/,
    ),
  },
  {
    name: 'a table becomes Markdown that GitHub shows as a table',
    input: file('prices.csv', 'name,price\n"a|b",007\n'),
    to: 'md',
    read: only(async (path) =>
      (await text(path))
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/\s+/g, ' ')),
    ),
    expected: ['| name | price |', expect.stringMatching(/^\|-+\|-+\|$/), '| a\\|b | 007 |'],
  },
  {
    name: 'a book becomes Markdown without the divisions of its pages',
    input: async (folder) => {
      const source = await file(
        'source.html',
        '<section><div class="x"><h1>One</h1><p>Text</p></div></section>',
      )(folder);
      const path = join(folder, 'book.epub');
      await program('pandoc', '--metadata=title:Book', '--from=html', '--to=epub', `--output=${path}`, source);
      return path;
    },
    to: 'md',
    read: only(async (path) => (await text(path)).replace(/^---.*?---\s*/s, '').trim()),
    expected: '# Book\n\n# One\n\nText',
  },
  {
    name: 'two books have identifiers of their own, and the name of their file as title',
    input: async (folder) => [await file('One.md', '# A\n')(folder), await file('Two.md', '# A\n')(folder)],
    to: 'epub',
    read: async (outputs) => {
      const books = await each(async (path) => (await unzip(path))['EPUB/content.opf']?.toString() ?? '')(outputs);
      const found = (pattern: RegExp) => books.map((book) => pattern.exec(book)?.[1] ?? '');
      return {
        titles: found(/<dc:title[^>]*>([^<]*)</),
        identifiers: new Set(found(/<dc:identifier[^>]*>([^<]*)</)).size,
        years: found(/<dc:date[^>]*>(\d+)/),
      };
    },
    expected: { titles: ['One', 'Two'], identifiers: 2, years: Array(2).fill(String(new Date().getFullYear())) },
  },
  ...eachTo(['pdf', 'png'], (to) => ({
    name: `emoji of a document are drawn as ${to}`,
    input: textDocument(paragraph(run('😀👍🎉🚀', 'Calibri'))),
    read: only(async (path, output) => (await ink(path, output)) > 0.01),
    expected: true,
  })),
  {
    name: 'emoji that no font has are named',
    input: textDocument(paragraph(run('😀🥺', 'Calibri'))),
    to: 'pdf',
    read: only(async (path, output) => (await ink(path, output)) > 0.001),
    expected: true,
    warnings: ['Emoji that no font has were not drawn: 🥺.'],
  },
  {
    name: 'fonts that are missing are replaced by others of their widths, in one warning',
    input: textDocument(
      ['Arial', 'Calibri', 'Cambria', 'Times New Roman', 'Courier New']
        .map((font) => paragraph(run('Text', font)))
        .join(''),
    ),
    to: 'pdf',
    read: only(pdfFonts),
    expected: ['LiberationSans', 'Carlito', 'Caladea-Regular', 'LiberationSerif', 'LiberationMono'],
    warnings: [
      'Fonts that are not installed were replaced by others of the same widths: Arial by Liberation Sans, Calibri by Carlito, Cambria by Caladea, Times New Roman by Liberation Serif, Courier New by Liberation Mono.',
    ],
    usual: true,
  },
  {
    name: 'fonts that are missing are replaced by others of their class with a warning',
    input: textDocument(
      ['Impact', 'Foo Garamond', 'Foo Mono', 'Georgia'].map((font) => paragraph(run('Text', font))).join(''),
    ),
    to: 'pdf',
    read: only(pdfFonts),
    expected: ['LiberationSans', 'LiberationSerif', 'LiberationMono', 'NotoSerif-Regular'],
    warnings: [
      'The font Impact is not installed; Liberation Sans was used.',
      'The font Foo Garamond is not installed; Liberation Serif was used.',
      'The font Foo Mono is not installed; Liberation Mono was used.',
      'The font Georgia is not installed; Noto Serif was used.',
    ],
  },
  {
    name: 'Comic Sans is replaced by a casual face, or a sans if there is none',
    input: textDocument(paragraph(run('Text', 'Comic Sans MS'))),
    to: 'pdf',
    read: only(pdfFonts),
    expected: [expect.stringMatching(/^(?:ComicNeue|LiberationSans)/)],
    warnings: [
      expect.stringMatching(/^The font Comic Sans MS is not installed; (?:Comic Neue|Liberation Sans) was used\.$/),
    ],
  },
  ...undeclared.map(
    ([name, encoding, content], index): QualityCase => ({
      name: `${name} in ${encoding} is read without a declaration`,
      input: encoded(name, encoding, content),
      to: name.endsWith('csv') ? 'tsv' : name.endsWith('txt') ? 'md' : 'txt',
      read: async (outputs) => (await only(text)(outputs)).replace('\ufeff', '').trim(),
      expected: content
        .replaceAll(/<.*?>/g, '')
        .replaceAll(',', name.endsWith('csv') ? '\t' : ',')
        .trim(),
      usual: index === 0,
    }),
  ),
  {
    name: 'an encoding that is not certain is named',
    input: encoded('cities.csv', 'ISO-8859-2', 'Imię,Miasto\nŁukasz Wiśniewski,Łódź\n'),
    to: 'tsv',
    read: only(text),
    expected: 'Imię\tMiasto\nŁukasz Wiśniewski\tŁódź\n',
    warnings: [
      'The encoding of the text is not declared, and iso-8859-2 was assumed. If letters are wrong, set input_encoding.',
    ],
  },
  {
    name: 'the encoding that is named is used',
    input: encoded('cities.csv', 'MACINTOSH', 'Name,City\nJürgen,Köln\n'),
    to: 'tsv',
    options: { input_encoding: 'macintosh' },
    read: only(text),
    expected: 'Name\tCity\nJürgen\tKöln\n',
  },
];

testQuality(cases);
