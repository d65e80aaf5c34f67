import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finish } from '../../../functions/engines/pdf/archive/pdfa.ts';
import type { Level } from '../../../functions/engines/pdf/archive/problems.ts';
import { isDict, type PdfDict, PdfObjects, type PdfValue } from '../../../functions/engines/pdf/objects.ts';
import { quietContext } from '../../support/sandboxed.ts';

type Change = (pdf: PdfObjects) => void;

/** Changes an object that has a value of a key, such as `/Subtype` `/Link`. */
function where(key: string, value: PdfValue | undefined, change: (dict: PdfDict, pdf: PdfObjects) => PdfDict): Change {
  return (pdf) => {
    const found = pdf.references.filter((each) => {
      const dict = pdf.dict(each);
      return dict !== undefined && (value === undefined ? dict[key] !== undefined : dict[key] === value);
    });
    if (found.length === 0) throw new Error(`No object has ${key} ${value}.`);
    for (const each of found) pdf.update(each, change(pdf.dict(each) ?? {}, pdf));
  };
}

const inCatalog =
  (entries: (pdf: PdfObjects) => PdfDict): Change =>
  (pdf) =>
    pdf.updateCatalog(entries(pdf));
const inPage = (entries: (pdf: PdfObjects, page: PdfDict) => PdfDict): Change =>
  where('/Type', '/Page', (page, pdf) => entries(pdf, page));
const inContent = (code: string, resources: PdfDict = {}): Change =>
  inPage((pdf, page) => {
    const own = pdf.dict(page['/Resources']) ?? {};
    const merged = Object.fromEntries(
      Object.entries(resources).map(([kind, entries]) => [
        kind,
        { ...pdf.dict(own[kind]), ...(isDict(entries) ? entries : {}) },
      ]),
    );
    const old = Array.isArray(pdf.lookup(page['/Contents']))
      ? pdf.array(page['/Contents'])
      : [page['/Contents'] ?? null];
    return { '/Contents': [...old, pdf.addStream({}, code)], '/Resources': { ...own, ...merged } };
  });
const inState = (state: PdfDict): Change => inContent('/Bad gs', { '/ExtGState': { '/Bad': state } });
const form = (pdf: PdfObjects, dict: PdfDict, code = ''): PdfValue =>
  pdf.addStream({ '/Type': '/XObject', '/Subtype': '/Form', '/BBox': [0, 0, 9, 9], '/Resources': {}, ...dict }, code);
const drawn =
  (dict: PdfDict, code = ''): Change =>
  (pdf) =>
    inContent('/Bad Do', { '/XObject': { '/Bad': form(pdf, dict, code) } })(pdf);
const picture =
  (dict: PdfDict, data = 'abc'): Change =>
  (pdf) => {
    const image = pdf.addStream(
      {
        '/Type': '/XObject',
        '/Subtype': '/Image',
        '/Width': 1,
        '/Height': 1,
        '/BitsPerComponent': 8,
        '/ColorSpace': '/DeviceRGB',
        ...dict,
      },
      data,
    );
    inContent('/Bad Do', { '/XObject': { '/Bad': image } })(pdf);
  };
const annotated = (annotation: PdfDict): Change =>
  inPage((pdf, page) => ({
    '/Annots': [
      ...pdf.array(page['/Annots']),
      pdf.add({ '/Type': '/Annot', '/Rect': [10, 10, 40, 40], '/F': 4, ...annotation }),
    ],
  }));
const appearance = (pdf: PdfObjects): PdfDict => ({ '/N': form(pdf, {}) });
const withAppearance =
  (annotation: PdfDict): Change =>
  (pdf) =>
    annotated({ '/AP': appearance(pdf), ...annotation })(pdf);
const metadata = (change: (text: string) => string): ByteChange => ({ bytes: change });

interface ByteChange {
  /** Changes the file, with a character for each byte. */
  bytes: (text: string) => string;
}

export interface Mutation {
  name: string;
  levels: Level[];
  change: Change | ByteChange;
}

const all: Level[] = ['1b', '2b', '2u', '3b'];
const later: Level[] = ['2b', '3b'];
const one = (name: string, change: Change | ByteChange, levels: Level[] = ['1b', '2b']): Mutation => ({
  name,
  levels,
  change,
});
const replaced =
  (from: string | RegExp, to: string): ((text: string) => string) =>
  (text) => {
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`There is no ${from}.`);
    return changed;
  };

/** Changes of a conforming file that break a rule each. */
export const mutations: Mutation[] = [
  // The structure of the file.
  one('bytes before the header', { bytes: (text) => ` ${text}` }),
  one('no binary comment', { bytes: replaced(/^(%PDF-1\..\n%)..../, '$1abcd') }),
  one('bytes after the end', { bytes: (text) => `${text}more` }),
  one('no identifier', { bytes: replaced(/\/ID \[.*?\]/, ' '.repeat(76)) }),
  one('an odd hexadecimal string', { bytes: replaced(/\/ID \[<(..)/, '/ID [<$1 a') }, ['1b', '2b']),
  one('a wrong length', { bytes: replaced(/\/Length (\d+)\d /, '/Length $17 ') }),
  one('a space after the keyword stream', { bytes: replaced(/>>\nstream\n/, '>>\nstream \n') }),
  one('a lost end of line before endstream', { bytes: replaced('\nendstream', ' endstream') }),
  one('two spaces in an object number', { bytes: replaced('2 0 obj\n', '2  0 obj\n') }),
  one('an encrypted trailer', { bytes: replaced('trailer << ', 'trailer << /Encrypt 1 0 R ') }),
  one('a damaged table', { bytes: replaced(/xref\n0 /, 'xref\n0\t') }, ['1b']),
  one(
    'a stream in another file',
    where('/Type', '/Metadata', () => ({ '/F': 'u:other.xml' })),
  ),
  // Metadata.
  one(
    'no metadata',
    inCatalog(() => ({ '/Metadata': undefined })),
    all,
  ),
  one('another part in the metadata', metadata(replaced(/<pdfaid:part>./, '<pdfaid:part>4')), all),
  one(
    'no level in the metadata',
    metadata(replaced(/<pdfaid:conformance>.<\/pdfaid:conformance>/, ' '.repeat(41))),
    all,
  ),
  one('another producer in the metadata', metadata(replaced('<pdf:Producer>L', '<pdf:Producer>l')), ['1b']),
  one('another date in the metadata', metadata(replaced(/<xmp:CreateDate>2/, '<xmp:CreateDate>1')), ['1b']),
  one('metadata that are not well-formed', metadata(replaced('</rdf:RDF>', '</rdf:RDX>')), all),
  one(
    'an unknown property',
    metadata(replaced('<pdf:Producer>Lathe</pdf:Producer>', '<pdf:Producex>Lathe</pdf:Producex>')),
    all,
  ),
  one(
    'an encoding in the packet',
    metadata(replaced(`id="W5M0MpCehiHzreSzNTczkc9d"?>`, `encoding="UTF-8" id="W5M0M"?>`)),
    all,
  ),
  one('another title than in the metadata', (pdf) => pdf.update(pdf.trailer['/Info'], { '/Title': 'u:Other' }), ['1b']),
  // Color.
  one(
    'no output intent',
    inCatalog(() => ({ '/OutputIntents': undefined })),
    all,
  ),
  one('another kind of profile', { bytes: replaced(/mntrRGB /, 'abstRGB ') }, []),
  one('CMYK', inContent('0 0 0 1 k')),
  one(
    'CMYK in a shading',
    inContent('/Bad sh', {
      '/Shading': {
        '/Bad': {
          '/ShadingType': 2,
          '/ColorSpace': '/DeviceCMYK',
          '/Coords': [0, 0, 9, 9],
          '/Function': { '/FunctionType': 2, '/Domain': [0, 1], '/N': 1, '/C0': [0, 0, 0, 0], '/C1': [0, 0, 0, 1] },
        },
      },
    }),
  ),
  one(
    'CMYK below a separation',
    inContent('/Bad cs 1 scn', {
      '/ColorSpace': {
        '/Bad': [
          '/Separation',
          '/Gold',
          '/DeviceCMYK',
          { '/FunctionType': 2, '/Domain': [0, 1], '/N': 1, '/C0': [0, 0, 0, 0], '/C1': [0, 0, 0, 1] },
        ],
      },
    }),
  ),
  one('an unknown rendering intent', inContent('/Nice ri')),
  // Content.
  one('an unknown operator', inContent('1 2 nonsense')),
  one('too many saved states', inContent('q '.repeat(30) + 'Q '.repeat(30))),
  one('a number out of range', inContent('99999999999 0 m n')),
  one('a long name', inContent(`/${'a'.repeat(130)} MP`)),
  one('a transfer function', inState({ '/Type': '/ExtGState', '/TR': '/Identity' })),
  one('a rendering intent of a state', inState({ '/Type': '/ExtGState', '/RI': '/Nice' })),
  one('an unknown blend mode', inState({ '/Type': '/ExtGState', '/BM': '/Nice' })),
  one('opacity', inState({ '/Type': '/ExtGState', '/ca': 0.5 }), ['1b']),
  one('opacity of strokes', inState({ '/Type': '/ExtGState', '/CA': 0.5 }), ['1b']),
  one('a blend mode', inState({ '/Type': '/ExtGState', '/BM': '/Multiply' }), ['1b']),
  one(
    'a soft mask',
    (pdf) =>
      inState({
        '/Type': '/ExtGState',
        '/SMask': {
          '/Type': '/Mask',
          '/S': '/Luminosity',
          '/G': form(pdf, { '/Group': { '/S': '/Transparency', '/CS': '/DeviceRGB' } }),
        },
      })(pdf),
    ['1b'],
  ),
  one('a transparency group', drawn({ '/Group': { '/Type': '/Group', '/S': '/Transparency' } }), ['1b']),
  one('a PostScript form', drawn({ '/Subtype2': '/PS' })),
  one('a reference to another document', drawn({ '/Ref': { '/F': 'u:other.pdf', '/Page': 0 } })),
  one('a PostScript XObject', drawn({ '/Subtype': '/PS' })),
  one('an interpolated picture', picture({ '/Interpolate': true })),
  one('an alternate picture', picture({ '/Alternates': [{ '/Image': null }] })),
  one('proxies of a picture', picture({ '/OPI': {} })),
  one('a picture of 3 bits', picture({ '/BitsPerComponent': 3 })),
  one('a picture of 16 bits', picture({ '/BitsPerComponent': 16 }, 'abcabc'), ['1b']),
  one(
    'a picture with a soft mask',
    (pdf) => {
      const mask = pdf.addStream(
        {
          '/Type': '/XObject',
          '/Subtype': '/Image',
          '/Width': 1,
          '/Height': 1,
          '/BitsPerComponent': 8,
          '/ColorSpace': '/DeviceGray',
        },
        'a',
      );
      picture({ '/SMask': mask })(pdf);
    },
    ['1b'],
  ),
  one('an inline picture that is interpolated', inContent('BI /W 1 /H 1 /BPC 8 /CS /RGB /I true ID abc EI')),
  one(
    'a glyph without a font in the file',
    inContent('BT /Bad 9 Tf (a) Tj ET', {
      '/Font': { '/Bad': { '/Type': '/Font', '/Subtype': '/Type1', '/BaseFont': '/Helvetica' } },
    }),
    all,
  ),
  // Fonts.
  one(
    'a font without its program',
    where('/Type', '/FontDescriptor', () => ({
      '/FontFile2': undefined,
      '/FontFile3': undefined,
      '/FontFile': undefined,
    })),
    all,
  ),
  one(
    'widths that differ',
    where('/Subtype', '/CIDFontType2', () => ({ '/W': [0, 65_535, 123] })),
    all,
  ),
  one(
    'no map to glyphs',
    where('/Subtype', '/CIDFontType2', () => ({ '/CIDToGIDMap': undefined })),
    all,
  ),
  one(
    'no type of a font',
    where('/Subtype', '/Type0', () => ({ '/Type': undefined })),
  ),
  one(
    'no name of a font',
    where('/Subtype', '/CIDFontType2', () => ({ '/BaseFont': undefined })),
  ),
  one(
    'a CMap that is not embedded',
    where('/Subtype', '/Type0', () => ({ '/Encoding': '/UniJIS-UTF8-H' })),
  ),
  one(
    'no list of glyphs',
    where('/CIDSet', undefined, () => ({ '/CIDSet': undefined })),
    ['1b'],
  ),
  one(
    'a wrong list of glyphs',
    where('/CIDSet', undefined, (_dict, pdf) => ({ '/CIDSet': pdf.addStream({}, '\x80') })),
    ['1b'],
  ),
  one(
    'no Unicode',
    where('/Subtype', '/Type0', () => ({ '/ToUnicode': undefined })),
    ['2u'],
  ),
  one(
    'a glyph .notdef',
    inPage((pdf, page) => {
      const fonts = pdf.dict(pdf.dict(page['/Resources'])?.['/Font']) ?? {};
      const [name] = Object.entries(fonts).find(([, font]) => pdf.dict(font)?.['/Subtype'] === '/Type0') ?? [];
      const old = Array.isArray(pdf.lookup(page['/Contents']))
        ? pdf.array(page['/Contents'])
        : [page['/Contents'] ?? null];
      return { '/Contents': [...old, pdf.addStream({}, `BT ${name} 9 Tf <0000> Tj ET`)] };
    }),
    ['2b', '2u', '3b'],
  ),
  one(
    'a glyph that is missing',
    inPage((pdf, page) => {
      const fonts = pdf.dict(pdf.dict(page['/Resources'])?.['/Font']) ?? {};
      const [name] = Object.entries(fonts).find(([, font]) => pdf.dict(font)?.['/Subtype'] === '/Type0') ?? [];
      const old = Array.isArray(pdf.lookup(page['/Contents']))
        ? pdf.array(page['/Contents'])
        : [page['/Contents'] ?? null];
      return { '/Contents': [...old, pdf.addStream({}, `BT ${name} 9 Tf <FFF0> Tj ET`)] };
    }),
    all,
  ),
  // Annotations, forms and actions.
  one('a movie', withAppearance({ '/Subtype': '/Movie' })),
  one('a sound', withAppearance({ '/Subtype': '/Sound' })),
  one('a 3D view', withAppearance({ '/Subtype': '/3D' })),
  one('a hidden annotation', withAppearance({ '/Subtype': '/Square', '/F': 6 })),
  one('an annotation that is not printed', withAppearance({ '/Subtype': '/Square', '/F': 0 })),
  one('an annotation without flags', (pdf) =>
    annotated({ '/Subtype': '/Square', '/AP': appearance(pdf), '/F': null })(pdf),
  ),
  one('an annotation without an appearance', annotated({ '/Subtype': '/Square' }), later),
  one('a transparent annotation', withAppearance({ '/Subtype': '/Square', '/CA': 0.5 }), ['1b']),
  one('an appearance of a pressed button', (pdf) =>
    annotated({ '/Subtype': '/Square', '/AP': { ...appearance(pdf), '/D': form(pdf, {}) } })(pdf),
  ),
  one('a form field with an action', (pdf) =>
    withAppearance({ '/Subtype': '/Widget', '/FT': '/Tx', '/T': 'u:a', '/A': { '/S': '/URI', '/URI': 'u:http://a' } })(
      pdf,
    ),
  ),
  one('a script', annotated({ '/Subtype': '/Link', '/A': { '/S': '/JavaScript', '/JS': 'u:x' } })),
  one('a launch action', annotated({ '/Subtype': '/Link', '/A': { '/S': '/Launch', '/F': 'u:x' } })),
  one('a named action', annotated({ '/Subtype': '/Link', '/A': { '/S': '/Named', '/N': '/Print' } })),
  one(
    'a second action',
    annotated({
      '/Subtype': '/Link',
      '/A': { '/S': '/URI', '/URI': 'u:http://a', '/Next': { '/S': '/Hide', '/T': 'u:x' } },
    }),
  ),
  one(
    'a script when the document opens',
    inCatalog(() => ({ '/OpenAction': { '/S': '/JavaScript', '/JS': 'u:x' } })),
  ),
  one(
    'additional actions of the document',
    inCatalog(() => ({ '/AA': { '/WC': { '/S': '/URI', '/URI': 'u:http://a' } } })),
  ),
  one(
    'additional actions of a page',
    inPage(() => ({ '/AA': { '/O': { '/S': '/URI', '/URI': 'u:http://a' } } })),
    later,
  ),
  one(
    'fields without appearances',
    inCatalog(() => ({ '/AcroForm': { '/Fields': [], '/NeedAppearances': true } })),
  ),
  one(
    'an XFA form',
    inCatalog((pdf) => ({ '/AcroForm': { '/Fields': [], '/XFA': pdf.addStream({}, '<a/>') } })),
    later,
  ),
  // Files, layers and pages.
  one(
    'an embedded file',
    inCatalog((pdf) => ({
      '/Names': {
        '/EmbeddedFiles': {
          '/Names': [
            'u:a',
            {
              '/Type': '/Filespec',
              '/F': 'u:a',
              '/UF': 'u:a',
              '/EF': { '/F': pdf.addStream({ '/Type': '/EmbeddedFile', '/Subtype': '/text/plain' }, 'a') },
            },
          ],
        },
      },
    })),
    ['1b', '2b', '2u', '3b'],
  ),
  one(
    'layers',
    inCatalog((pdf) => ({
      '/OCProperties': { '/OCGs': [pdf.add({ '/Type': '/OCG', '/Name': 'u:a' })], '/D': { '/Name': 'u:a' } },
    })),
    ['1b'],
  ),
  one(
    'layers without a name',
    inCatalog((pdf) => ({ '/OCProperties': { '/OCGs': [pdf.add({ '/Type': '/OCG', '/Name': 'u:a' })], '/D': {} } })),
    later,
  ),
  one(
    'layers by usage',
    inCatalog((pdf) => ({
      '/OCProperties': { '/OCGs': [pdf.add({ '/Type': '/OCG', '/Name': 'u:a' })], '/D': { '/Name': 'u:a', '/AS': [] } },
    })),
    later,
  ),
  one(
    'a layer that is not listed',
    inCatalog((pdf) => ({
      '/OCProperties': {
        '/OCGs': [pdf.add({ '/Type': '/OCG', '/Name': 'u:a' })],
        '/D': { '/Name': 'u:a', '/Order': [] },
      },
    })),
    later,
  ),
  one(
    'presentation steps',
    inPage(() => ({ '/PresSteps': {} })),
    later,
  ),
  one(
    'alternate presentations',
    inCatalog(() => ({ '/Names': { '/AlternatePresentations': { '/Names': [] } } })),
    later,
  ),
  one(
    'requirements',
    inCatalog(() => ({ '/Requirements': [] })),
    later,
  ),
  one(
    'a page that is too large',
    inPage(() => ({ '/MediaBox': [0, 0, 15_000, 15_000] })),
    later,
  ),
  one(
    'another filter',
    where('/Type', '/ObjStm', () => ({})),
    [],
  ),
].filter(({ levels }) => levels.length > 0);

/** Applies a mutation to a conforming file. */
export async function mutate(path: string, output: string, mutation: Mutation, level: Level, folder: string) {
  const { change } = mutation;
  if (typeof change !== 'function') {
    const text = change.bytes((await readFile(path)).toString('latin1'));
    await writeFile(output, Buffer.from(text, 'latin1'));
    return;
  }
  const job = { ...quietContext(), folder };
  const pdf = await PdfObjects.read(path, job);
  change(pdf);
  const changed = join(folder, 'changed.pdf');
  await pdf.write(changed, job);
  await finish(changed, output, level, job);
}
