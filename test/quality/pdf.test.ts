import { appendFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { program } from '../engines/image/programs.ts';
import { type QualityCase, testQuality } from './case.ts';
import { only, pdfBookmarks, pdfDestinations, pdfFields, pdfPaper, pdfText, tags, text } from './readers.ts';

/** Writes a PDF from its objects according to the specification, without any library. The first object is the catalog. */
async function writeObjects(path: string, objects: string[], trailer = ''): Promise<string> {
  let text = '%PDF-1.6\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`;
  await writeFile(path, `${text}${table}${end}`, 'latin1');
  return path;
}

const stream = (content: string, entries = '') =>
  `<< /Length ${content.length} ${entries}>>\nstream\n${content}\nendstream`;
const line = (text: string, y = 350) => stream(`BT /F1 18 Tf 40 ${y} Td (${text}) Tj ET`);

/** A picture of 300 × 300 pixels without compression, each different from its neighbours. */
const large = stream(
  Buffer.from(Array.from({ length: 270_000 }, (_, at) => (at * 7919 * ((at >> 10) + 1)) % 251)).toString('latin1'),
  '/Type /XObject /Subtype /Image /Width 300 /Height 300 /BitsPerComponent 8 /ColorSpace /DeviceRGB ',
);

/**
 * A form of two pages with a text field and a check box, bookmarks, a named destination, a link to it, and information. The
 * second page has a picture, and entries of its own on request.
 */
function form(name: string, entries = '') {
  return (folder: string): Promise<string> =>
    writeObjects(
      join(folder, `${name}.pdf`),
      [
        '<< /Type /Catalog /Pages 2 0 R /Outlines 8 0 R /AcroForm << /Fields [11 0 R 15 0 R] /DR << /Font << /Helv 7 0 R >> >> /DA (/Helv 12 Tf 0 g) >> /Names << /Dests 12 0 R >> >>',
        '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 300 400] /Resources << /Font << /F1 7 0 R >> /XObject << /I 18 0 R >> >> >>',
        '<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Annots [11 0 R 13 0 R 15 0 R] >>',
        `<< /Type /Page /Parent 2 0 R /Contents 6 0 R /Annots [19 0 R] ${entries} >>`,
        line(`${name} one`),
        stream(`q 60 0 0 60 100 100 cm /I Do Q BT /F1 18 Tf 40 350 Td (${name} two) Tj ET`),
        '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
        '<< /Type /Outlines /First 9 0 R /Last 10 0 R /Count 2 >>',
        `<< /Title (${name} start) /Parent 8 0 R /Next 10 0 R /Dest [3 0 R /Fit] >>`,
        `<< /Title (${name} chapter) /Parent 8 0 R /Prev 9 0 R /A << /S /GoTo /D (chapter) >> >>`,
        `<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (value of ${name}) /Rect [50 250 250 280] /P 3 0 R /F 4 >>`,
        '<< /Names [(chapter) [4 0 R /XYZ 0 400 0]] >>',
        '<< /Type /Annot /Subtype /Link /Rect [30 340 250 370] /Dest (chapter) /Border [0 0 1] >>',
        `<< /Title (Title of ${name}) /Author (Author of ${name}) /Subject (Subject) /Keywords (some words) >>`,
        '<< /Type /Annot /Subtype /Widget /FT /Btn /T (agree) /V /Yes /AS /Yes /Rect [50 200 70 220] /P 3 0 R /F 4 /AP << /N << /Yes 16 0 R /Off 17 0 R >> >> >>',
        stream('0 0 20 20 re f', '/Type /XObject /Subtype /Form /BBox [0 0 20 20] '),
        stream('', '/Type /XObject /Subtype /Form /BBox [0 0 20 20] '),
        large,
        '<< /Type /Annot /Subtype /Text /Rect [200 200 220 220] /Contents (A note.) /F 4 >>',
      ],
      '/Info 14 0 R',
    );
}

const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';

/** A page with a layer that is shown and one that is hidden. */
const layered = (name: string) => (folder: string) =>
  writeObjects(join(folder, `${name}.pdf`), [
    '<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF [7 0 R] /Order [6 0 R 7 0 R] >> >> >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 300 400] >>',
    '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /Properties << /A 6 0 R /B 7 0 R >> >> >>',
    stream(
      ['A', 'B']
        .map((layer, at) => `/OC /${layer} BDC BT /F1 18 Tf 20 ${200 - 50 * at} Td (${name} ${layer}) Tj ET EMC`)
        .join('\n'),
    ),
    font,
    `<< /Type /OCG /Name (${name} shown) >>`,
    `<< /Type /OCG /Name (${name} hidden) >>`,
  ]);

/** Three pages that are numbered i, ii and 1, with an attachment and a destination as before PDF 1.2. */
const labelled = (folder: string) =>
  writeObjects(join(folder, 'labelled.pdf'), [
    '<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >> /Names << /EmbeddedFiles << /Names [(note.txt) 9 0 R] >> >> /Dests << /old [5 0 R /Fit] >> >>',
    '<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3 /MediaBox [0 0 300 400] /Resources << /Font << /F1 7 0 R >> >> >>',
    ...['', '', ''].map(() => '<< /Type /Page /Parent 2 0 R /Contents 6 0 R >>'),
    line('labelled'),
    font,
    stream('attached text', '/Type /EmbeddedFile '),
    '<< /Type /Filespec /F (note.txt) /EF << /F 8 0 R >> >>',
  ]);

/** A page whose only line is tagged as a heading. */
const tagged = (name: string) => (folder: string) =>
  writeObjects(join(folder, `${name}.pdf`), [
    '<< /Type /Catalog /Pages 2 0 R /MarkInfo << /Marked true >> /StructTreeRoot 6 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 300 400] >>',
    '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /StructParents 0 /Resources << /Font << /F1 5 0 R >> >> >>',
    stream(`/H1 << /MCID 0 >> BDC BT /F1 18 Tf 20 200 Td (${name}) Tj ET EMC`),
    font,
    '<< /Type /StructTreeRoot /K 7 0 R /ParentTree << /Nums [0 [8 0 R]] >> >>',
    '<< /Type /StructElem /S /Document /P 6 0 R /K [8 0 R] >>',
    '<< /Type /StructElem /S /H1 /P 7 0 R /Pg 3 0 R /K 0 >>',
  ]);

const picture = async (folder: string, name = 'picture.png') => {
  const path = join(folder, name);
  await program('/usr/bin/convert', '-size', '60x40', 'xc:red', path);
  return path;
};

async function written(folder: string, name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** The pages that links lead to, by poppler. */
async function links(path: string): Promise<string[]> {
  const xml = (await program('pdftohtml', '-xml', '-i', '-stdout', path)).toString();
  return [...xml.matchAll(/<a href="[^"]*#(\d+)">([^<]*)</g)].map(([, page, text]) => `${text} > ${page}`);
}

const bookkeeping = async (path: string) => ({
  text: await pdfText(path),
  bookmarks: await pdfBookmarks(path),
  fields: await pdfFields(path),
  destinations: await pdfDestinations(path),
  links: await links(path),
  ...(await tags('Title', 'Author', 'Subject', 'Keywords')(path)),
});

const merges: QualityCase[] = [
  {
    name: 'merged PDFs keep bookmarks, form fields, named destinations, links and the information of the first',
    input: async (folder) => [await form('A')(folder), await form('B')(folder)],
    operation: 'merge',
    to: 'pdf',
    read: only(bookkeeping),
    expected: {
      text: ['A one\n\nvalue of A', 'A two', 'B one\n\nvalue of B', 'B two'],
      bookmarks: ['A > 1', '\tA start > 1', '\tA chapter > 2', 'B > 3', '\tB start > 3', '\tB chapter > 4'],
      fields: {
        'name on page 1': 'value of A',
        'agree on page 1': '/Yes',
        'name+1 on page 3': 'value of B',
        'agree+1 on page 3': '/Yes',
      },
      destinations: ['chapter > 2', 'chapter+1 > 4'],
      links: ['A one > 2', 'B one > 4'],
      Title: 'Title of A',
      Author: 'Author of A',
      Subject: 'Subject',
      Keywords: ['some', 'words'],
    },
    warnings: [
      'Fields of "B.pdf" have the names of other fields and were renamed, so that each keeps its own value: "name", "agree".',
    ],
    usual: true,
  },
  {
    name: 'documents and pictures become pages between those of a PDF',
    input: async (folder) => [
      await form('A')(folder),
      await written(folder, 'notes.md', '# Heading\n\nfrom markdown\n'),
      await written(folder, 'plain.txt', 'from text\n'),
      await picture(folder),
    ],
    operation: 'merge',
    to: 'pdf',
    read: only(async (path) => ({
      text: await pdfText(path),
      bookmarks: await pdfBookmarks(path),
      fields: await pdfFields(path),
    })),
    expected: {
      text: ['A one\n\nvalue of A', 'A two', 'Heading\n\nfrom markdown', 'from text', ''],
      bookmarks: [
        ...['A > 1', '\tA start > 1', '\tA chapter > 2'],
        ...['notes > 3', '\tHeading > 3', 'plain > 4', 'picture > 5'],
      ],
      fields: { 'name on page 1': 'value of A', 'agree on page 1': '/Yes' },
    },
  },
  {
    name: 'a web page merged with a PDF is laid out by LibreOffice, and a warning says so',
    input: async (folder) => [
      await form('A')(folder),
      await written(folder, 'page.html', '<!doctype html><title>T</title><p>from html</p>'),
    ],
    operation: 'merge',
    to: 'pdf',
    read: only(pdfText),
    expected: ['A one\n\nvalue of A', 'A two', 'from html'],
    warnings: [
      '"page.html": LibreOffice laid out this web page, without scripts and with simple styles only. For pages as in a browser, convert it to PDF before the merge.',
    ],
  },
  {
    name: 'merged pictures have a bookmark each',
    input: async (folder) => [await picture(folder, 'one.png'), await picture(folder, 'two.jpg')],
    operation: 'merge',
    to: 'pdf',
    read: only(pdfBookmarks),
    expected: ['one > 1', 'two > 2'],
  },
];

const whole = {
  text: ['A one\n\nvalue of A', 'A two'],
  bookmarks: ['A start > 1', 'A chapter > 2'],
  fields: { 'name on page 1': 'value of A', 'agree on page 1': '/Yes' },
  destinations: ['chapter > 2'],
  links: ['A one > 2'],
  Title: 'Title of A',
  Author: 'Author of A',
  Subject: 'Subject',
  Keywords: ['some', 'words'],
};

const more: QualityCase[] = [
  {
    name: 'layers that are hidden stay hidden in a merged PDF',
    input: async (folder) => [await layered('one')(folder), await layered('two')(folder)],
    operation: 'merge',
    to: 'pdf',
    read: only(pdfText),
    expected: ['one A', 'two A'],
  },
  {
    name: 'merged PDFs keep page labels, attachments and destinations of old documents',
    input: async (folder) => [await form('A')(folder), await labelled(folder)],
    operation: 'merge',
    to: 'pdf',
    read: only(async (path) => ({
      labels: JSON.parse((await program('qpdf', '--json', '--json-key=pagelabels', path)).toString()).pagelabels,
      attachments: (await program('pdfdetach', '-list', path)).toString().trim().split('\n').slice(1),
      destinations: await pdfDestinations(path),
    })),
    expected: {
      labels: [
        { index: 0, label: { '/S': '/D', '/St': 1 } },
        { index: 2, label: { '/S': '/r', '/St': 1 } },
        { index: 4, label: { '/S': '/D', '/St': 1 } },
      ],
      attachments: ['1: note.txt'],
      destinations: ['chapter > 2', 'old > 5'],
    },
  },
  {
    name: 'merged PDFs keep the tags for screen readers',
    input: async (folder) => [await tagged('one')(folder), await tagged('two')(folder)],
    operation: 'merge',
    to: 'pdf',
    read: only(async (path) => (await program('pdfinfo', '-struct-text', path)).toString().match(/\S+/g)),
    expected: ['Document', 'H1', '(block)', '"one"', 'Document', 'H1', '(block)', '"two"'],
  },
  {
    name: 'a PDF that opens without a password is merged, whatever its owner restricts',
    input: async (folder) => {
      const path = join(folder, 'restricted.pdf');
      await program('qpdf', '--encrypt', '', 'owner', '256', '--', await form('A')(folder), path);
      return [path, await picture(folder)];
    },
    operation: 'merge',
    to: 'pdf',
    read: only(async (path) => ({ text: await pdfText(path), fields: await pdfFields(path) })),
    expected: {
      text: ['A one\n\nvalue of A', 'A two', ''],
      fields: { 'name on page 1': 'value of A', 'agree on page 1': '/Yes' },
    },
  },
  {
    name: 'a signature is removed from a merged PDF with a warning',
    input: async (folder) => [
      await writeObjects(join(folder, 'signed.pdf'), [
        '<< /Type /Catalog /Pages 2 0 R /AcroForm << /SigFlags 3 /Fields [5 0 R] >> >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 300 400] >>',
        '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [5 0 R] >>',
        stream(''),
        '<< /Type /Annot /Subtype /Widget /FT /Sig /T (signature) /Rect [0 0 50 20] /P 3 0 R /F 4 /V 6 0 R >>',
        '<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /ByteRange [0 10 20 10] /Contents <00> >>',
      ]),
      await picture(folder),
    ],
    operation: 'merge',
    to: 'pdf',
    read: only(pdfFields),
    expected: { 'signature on page 1': null },
    warnings: [
      'A merged file is not what was signed, so the signature of "signed.pdf" was removed. Its appearance is kept.',
    ],
  },
  ...(
    [
      ['convert', {}],
      ['convert', { page_range: '1-2' }],
      ['crop', { width: 290, height: 390 }],
    ] as const
  ).map(
    ([operation, options]): QualityCase => ({
      name: `${operation} with ${JSON.stringify(options)} keeps forms, annotations, bookmarks and links`,
      input: form('A'),
      operation,
      to: 'pdf',
      options,
      read: only(async (path) => ({
        ...(await bookkeeping(path)),
        notes: (await program('mutool', 'show', path, 'pages/2/Annots/1')).toString().includes('(A note.)'),
      })),
      expected: { ...whole, notes: true },
    }),
  ),
  {
    name: 'pages keep their order, sizes and text in a range',
    input: form('A', '/MediaBox [0 0 200 380]'),
    to: 'pdf',
    options: { page_range: '2,1,2' },
    read: only(async (path) => ({ text: await pdfText(path), paper: await pdfPaper(path) })),
    expected: {
      text: ['A two', 'A one\n\nvalue of A', 'A two'],
      paper: ['200 x 380', '300 x 400', '200 x 380'],
    },
  },
  {
    name: 'a compressed PDF that loses its tags says so',
    input: async (folder) => {
      const path = await tagged('one')(folder);
      // Padding, so that the rewritten file is the smaller one.
      await appendFile(path, `\n%${' '.repeat(20_000)}\n`);
      return path;
    },
    operation: 'compress',
    to: 'pdf',
    read: only(pdfText),
    expected: ['one'],
    warnings: ['Tags for screen readers are not kept in a compressed PDF.'],
  },
];

/** Facts about a form that a change of its pages must not touch, and whether it looks the same. */
const kept = (source: (folder: string) => Promise<string>) => async (path: string) => {
  const folder = dirname(path);
  const original = await source(folder);
  const drawn = await Promise.all(
    [original, path].map(async (each, index) => {
      await program('mutool', 'draw', '-q', '-r', '72', '-o', join(folder, `drawn-${index}.png`), each, '2');
      return join(folder, `drawn-${index}.png`);
    }),
  );
  const [first = '', second = ''] = drawn;
  const difference = await program(
    '/usr/bin/convert',
    first,
    second,
    '-metric',
    'RMSE',
    '-compare',
    '-format',
    '%[distortion]',
    'info:',
  );
  const smaller = (await stat(path)).size < (await stat(original)).size / 2;
  return { ...(await bookkeeping(path)), smaller, looksSame: Number(difference) < 0.05 };
};

const compressions: QualityCase[] = [
  { name: 'a compressed form stays a form', source: form('A') },
  { name: 'a compressed form with a page that is turned stays as it is seen', source: form('A', '/Rotate 90') },
  {
    name: 'a compressed form with a page that does not begin at the origin stays as it is seen',
    source: form('A', '/Rotate 270 /MediaBox [20 30 300 380]'),
  },
].map(({ name, source }, index) => ({
  name,
  input: source,
  operation: 'compress',
  to: 'pdf',
  read: only(kept(source)),
  expected: { ...whole, smaller: true, looksSame: true },
  usual: index === 0,
}));

/** A page with texts of 10 points at places: from the left, from the bottom. */
const placed =
  (...texts: [x: number, y: number, text: string][]) =>
  (folder: string): Promise<string> =>
    writeObjects(join(folder, 'placed.pdf'), [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>',
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      stream(texts.map(([x, y, text]) => `BT /F1 10 Tf ${x} ${y} Td (${text}) Tj ET`).join('\n')),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ]);

/** A column of lines at 12 points each. */
const column = (x: number, lines: string[]) =>
  lines.map((text, index): [number, number, string] => [x, 700 - 12 * index, text]);

const order = placed(
  [50, 760, 'Order'],
  ...[
    ['Item', 'Colour', 'Count', 'Price'],
    ['Widget', 'blue', '2', '10.00'],
    ['Sprocket', 'red', '3', '7.50'],
    ['Gear', 'green', '12', '1.25'],
  ].flatMap((cells, row) => cells.map((cell, at): [number, number, string] => [50 + 130 * at, 720 - 18 * row, cell])),
  [50, 600, 'Thank you.'],
);

const article = [
  [
    'The first column of an article',
    'has lines that are nearly as',
    'wide as the column, and they',
    'go on in the next line.',
  ],
  [
    'The second column goes on',
    'where the first one ended and',
    'is as wide as that, until it',
    'comes to its end here.',
  ],
  ['The third column is the last', 'of them and is read after the', 'second column, as in a paper', 'that is printed.'],
];

const texts: QualityCase[] = [
  {
    name: 'the rows of a table in a PDF are lines of text',
    input: order,
    to: 'txt',
    read: only(text),
    expected:
      'Order\n\nItem\tColour\tCount\tPrice\nWidget\tblue\t2\t10.00\nSprocket\tred\t3\t7.50\nGear\tgreen\t12\t1.25\n\nThank you.\n\n',
    usual: true,
  },
  {
    name: 'the layout of a PDF is kept on request',
    input: order,
    to: 'txt',
    options: { keep_layout: true },
    read: only(text),
    expected: expect.stringMatching(/^Item {2,}Colour {2,}Count {2,}Price$/m),
  },
  {
    name: 'a price list of two columns is read by rows',
    input: placed(...column(50, ['Bread', 'Butter', 'Milk']), ...column(300, ['2.50', '1.99', '0.89'])),
    to: 'txt',
    read: only(text),
    expected: 'Bread\t2.50\nButter\t1.99\nMilk\t0.89\n\n',
  },
  {
    name: 'columns of prose are read one after the other',
    input: placed(...article.flatMap((lines, at) => column(40 + 180 * at, lines))),
    to: 'txt',
    read: only(async (path) => (await text(path)).split(/\s+/).join(' ').trim()),
    expected: article.flat().join(' '),
  },
  {
    name: 'two addresses side by side are read one after the other',
    input: placed(
      ...column(50, ['John Smith', '1 Long Road', 'London']),
      ...column(330, ['Jane Miller', '22 Short Street', 'Leeds']),
    ),
    to: 'txt',
    read: only(async (path) => (await text(path)).split(/\s+/).join(' ').trim()),
    expected: 'John Smith 1 Long Road London Jane Miller 22 Short Street Leeds',
  },
];

testQuality([...merges, ...more, ...compressions, ...texts]);
