import type { Format } from '../../../shared/catalogue/catalogue.ts';
import { defined } from '../../../shared/defined.ts';

/** Kinds of documents in LibreOffice. It writes only formats of the kind that it has loaded. */
export type OfficeKind = 'text' | 'sheet' | 'slides' | 'drawing';

/** A format of pandoc. */
export interface MarkupFormat extends Format {
  /** Name of the program's reader or importer; absent if it only writes the format. */
  reads?: string;
  /** Name of its writer or exporter; absent if it only reads the format. */
  writes?: string;
  /** Container to check before the program opens it. */
  container?: 'zip' | 'xml' | 'cfb' | 'rtf' | 'text' | 'html' | 'gzip' | 'iwork';
}

export interface OfficeFormat extends MarkupFormat {
  kind: OfficeKind;
  /** Whether LibreOffice can write it with a password. */
  protectable?: boolean;
}

const opendocument = 'application/vnd.oasis.opendocument';
const openxml = 'application/vnd.openxmlformats-officedocument';
const sun = 'application/vnd.sun.xml';
const macro = (type: string) => `application/vnd.ms-${type}.macroEnabled.12`;

/** How a document is wrapped. */
type Wrapping = Pick<OfficeFormat, 'contents' | 'container'>;

const binary: Wrapping = {};
const plain: Wrapping = { container: 'text' };
const rtf: Wrapping = { container: 'rtf' };
const html: Wrapping = { container: 'html', contents: ['xml'] };
const xml: Wrapping = { container: 'xml', contents: ['xml'] };
const gzip: Wrapping = { container: 'gzip', contents: ['gz', 'xml'] };
const cfb: Wrapping = { container: 'cfb', contents: ['cfb'] };
/** A compound file of a format without passwords. */
const openCfb: Wrapping = { contents: ['cfb'] };
const zip: Wrapping = { container: 'zip', contents: ['zip'] };
const iwork: Wrapping = { container: 'iwork', contents: ['zip'] };
/** An encrypted Office file is a compound file for any extension, and content types may come late in a zip. */
const ooxml: Wrapping = { container: 'zip', contents: ['cfb', 'zip'] };

type OfficeRow = [
  ext: string,
  mediaType: string,
  wrapping: Wrapping,
  mode: 'r' | 'rw',
  /** Name of LibreOffice's importer, and of its exporter in mode `rw`. */
  filter: string,
  /** Formats that content detection may report instead. */
  lookalikes?: string[],
  more?: { alias?: string; writes?: string },
];

const officeRows: Record<OfficeKind, OfficeRow[]> = {
  text: [
    ['doc', 'application/msword', cfb, 'rw', 'MS Word 97'],
    ['dot', 'application/msword', cfb, 'rw', 'MS Word 97 Vorlage', ['doc']],
    ['docx', `${openxml}.wordprocessingml.document`, ooxml, 'rw', 'MS Word 2007 XML'],
    ['docm', macro('word.document'), ooxml, 'r', 'MS Word 2007 XML VBA', ['docx']],
    ['dotx', `${openxml}.wordprocessingml.template`, ooxml, 'rw', 'MS Word 2007 XML Template', ['docx']],
    ['dotm', macro('word.template'), ooxml, 'r', 'MS Word 2007 XML Template', ['docx', 'dotx']],
    ['odt', `${opendocument}.text`, zip, 'rw', 'writer8'],
    ['ott', `${opendocument}.text-template`, zip, 'rw', 'writer8_template', ['odt']],
    ['fodt', `${opendocument}.text-flat-xml`, xml, 'rw', 'OpenDocument Text Flat XML'],
    ['sxw', `${sun}.writer`, zip, 'r', 'StarOffice XML (Writer)'],
    ['stw', `${sun}.writer.template`, zip, 'r', 'writer_StarOffice_XML_Writer_Template', ['sxw']],
    ['rtf', 'application/rtf', rtf, 'rw', 'Rich Text Format'],
    ['txt', 'text/plain', plain, 'rw', 'Text (encoded)'],
    ['html', 'text/html', html, 'rw', 'HTML (StarWriter)', [], { alias: 'htm' }],
    ['xhtml', 'application/xhtml+xml', html, 'r', 'HTML (StarWriter)', ['html'], { writes: 'XHTML Writer File' }],
    ['abw', 'application/x-abiword', xml, 'r', 'AbiWord'],
    ['wpd', 'application/vnd.wordperfect', binary, 'r', 'WordPerfect'],
    ['pages', 'application/vnd.apple.pages', iwork, 'r', 'Apple Pages'],
  ],
  sheet: [
    ['xls', 'application/vnd.ms-excel', cfb, 'rw', 'MS Excel 97'],
    ['xlt', 'application/vnd.ms-excel', cfb, 'rw', 'MS Excel 97 Vorlage/Template', ['xls']],
    ['xlsx', `${openxml}.spreadsheetml.sheet`, ooxml, 'rw', 'Calc MS Excel 2007 XML'],
    ['xlsm', macro('excel.sheet'), ooxml, 'r', 'Calc MS Excel 2007 VBA XML', ['xlsx']],
    ['xltx', `${openxml}.spreadsheetml.template`, ooxml, 'rw', 'Calc MS Excel 2007 XML Template', ['xlsx']],
    ['xltm', macro('excel.template'), ooxml, 'r', 'Calc MS Excel 2007 XML Template', ['xlsx', 'xltx']],
    ['ods', `${opendocument}.spreadsheet`, zip, 'rw', 'calc8'],
    ['ots', `${opendocument}.spreadsheet-template`, zip, 'rw', 'calc8_template', ['ods']],
    ['fods', `${opendocument}.spreadsheet-flat-xml`, xml, 'rw', 'OpenDocument Spreadsheet Flat XML'],
    ['sxc', `${sun}.calc`, zip, 'r', 'StarOffice XML (Calc)'],
    ['stc', `${sun}.calc.template`, zip, 'r', 'calc_StarOffice_XML_Calc_Template', ['sxc']],
    ['csv', 'text/csv', plain, 'rw', 'Text - txt - csv (StarCalc)'],
    ['tsv', 'text/tab-separated-values', plain, 'rw', 'Text - txt - csv (StarCalc)', [], { alias: 'tab' }],
    ['slk', 'text/x-sylk', plain, 'rw', 'SYLK', [], { alias: 'sylk' }],
    ['gnumeric', 'application/x-gnumeric', gzip, 'r', 'Gnumeric Spreadsheet'],
    ['wk1', 'application/vnd.lotus-1-2-3', binary, 'r', 'Lotus'],
    ['numbers', 'application/vnd.apple.numbers', iwork, 'r', 'Apple Numbers'],
  ],
  slides: [
    ['ppt', 'application/vnd.ms-powerpoint', cfb, 'rw', 'MS PowerPoint 97'],
    ['pps', 'application/vnd.ms-powerpoint', cfb, 'rw', 'MS PowerPoint 97 AutoPlay', ['ppt']],
    ['pot', 'application/vnd.ms-powerpoint', cfb, 'rw', 'MS PowerPoint 97 Vorlage', ['ppt']],
    ['pptx', `${openxml}.presentationml.presentation`, ooxml, 'rw', 'Impress MS PowerPoint 2007 XML'],
    ['pptm', macro('powerpoint.presentation'), ooxml, 'r', 'Impress MS PowerPoint 2007 XML VBA', ['pptx']],
    ['ppsx', `${openxml}.presentationml.slideshow`, ooxml, 'rw', 'Impress MS PowerPoint 2007 XML AutoPlay', ['pptx']],
    ['ppsm', macro('powerpoint.slideshow'), ooxml, 'r', 'Impress MS PowerPoint 2007 XML AutoPlay', ['pptx', 'ppsx']],
    ['potx', `${openxml}.presentationml.template`, ooxml, 'rw', 'Impress MS PowerPoint 2007 XML Template', ['pptx']],
    ['potm', macro('powerpoint.template'), ooxml, 'r', 'Impress MS PowerPoint 2007 XML Template', ['pptx', 'potx']],
    ['odp', `${opendocument}.presentation`, zip, 'rw', 'impress8'],
    ['otp', `${opendocument}.presentation-template`, zip, 'rw', 'impress8_template', ['odp']],
    ['fodp', `${opendocument}.presentation-flat-xml`, xml, 'rw', 'OpenDocument Presentation Flat XML'],
    ['sxi', `${sun}.impress`, zip, 'r', 'StarOffice XML (Impress)'],
    ['key', 'application/vnd.apple.keynote', iwork, 'r', 'Apple Keynote'],
  ],
  drawing: [
    ['odg', `${opendocument}.graphics`, zip, 'rw', 'draw8'],
    ['otg', `${opendocument}.graphics-template`, zip, 'rw', 'draw8_template', ['odg']],
    ['fodg', `${opendocument}.graphics-flat-xml`, xml, 'rw', 'OpenDocument Drawing Flat XML'],
    ['sxd', `${sun}.draw`, zip, 'r', 'StarOffice XML (Draw)'],
    ['vsd', 'application/vnd.visio', openCfb, 'r', 'Visio Document'],
    ['pub', 'application/vnd.ms-publisher', openCfb, 'r', 'Publisher Document'],
    ['vsdx', 'application/vnd.ms-visio.drawing', zip, 'r', 'Visio Document'],
    ['vsdm', macro('visio.drawing'), zip, 'r', 'Visio Document', ['vsdx']],
    ['vstx', 'application/vnd.ms-visio.template', zip, 'r', 'Visio Document', ['vsdx']],
    ['emf', 'image/emf', binary, 'r', 'EMF - MS Windows Metafile', [], { writes: 'draw_emf_Export' }],
    ['wmf', 'image/wmf', binary, 'r', 'WMF - MS Windows Metafile', [], { writes: 'draw_wmf_Export' }],
  ],
};

/** Formats that LibreOffice can write with a password. */
const protectable = ['docx', 'odt', 'xlsx', 'ods', 'pptx', 'odp'];

function formatsOf(kind: OfficeKind, rows: OfficeRow[]): OfficeFormat[] {
  return rows.flatMap(([ext, mediaType, { container, ...wrapping }, mode, reads, lookalikes = [], more = {}]) => {
    const contents = wrapping.contents && [...wrapping.contents, ...lookalikes];
    const writes = more.writes ?? (mode === 'rw' ? reads : undefined);
    const named = defined({ mediaType, contents, kind });
    return [
      defined({ ext, ...named, reads, writes, container, protectable: protectable.includes(ext) }),
      ...(more.alias === undefined ? [] : [{ ext: more.alias, aliasOf: ext, ...named }]),
    ];
  });
}

/** The formats of LibreOffice. */
export const officeFormats: OfficeFormat[] = [
  ...formatsOf('text', officeRows.text),
  ...formatsOf('sheet', officeRows.sheet),
  ...formatsOf('slides', officeRows.slides),
  ...formatsOf('drawing', officeRows.drawing),
];

/** The formats that pandoc supports better than LibreOffice. */
export const markupFormats: MarkupFormat[] = [
  { ext: 'md', mediaType: 'text/markdown', reads: 'markdown', writes: 'markdown', container: 'text' },
  { ext: 'markdown', mediaType: 'text/markdown', aliasOf: 'md' },
  { ext: 'rst', mediaType: 'text/x-rst', reads: 'rst', writes: 'rst', container: 'text' },
  { ext: 'tex', mediaType: 'application/x-tex', reads: 'latex', writes: 'latex', container: 'text' },
  { ext: 'latex', mediaType: 'application/x-tex', aliasOf: 'tex' },
  { ext: 'epub', mediaType: 'application/epub+zip', ...zip, reads: 'epub', writes: 'epub' },
  { ext: 'docbook', mediaType: 'application/docbook+xml', ...xml, reads: 'docbook', writes: 'docbook5' },
  { ext: 'dbk', mediaType: 'application/docbook+xml', aliasOf: 'docbook', contents: ['xml'] },
  { ext: 'jats', mediaType: 'application/jats+xml', ...xml, reads: 'jats', writes: 'jats' },
  { ext: 'fb2', mediaType: 'application/x-fictionbook+xml', ...xml, reads: 'fb2', writes: 'fb2' },
  { ext: 'opml', mediaType: 'text/x-opml', ...xml, reads: 'opml' },
  { ext: 'org', mediaType: 'text/x-org', reads: 'org', writes: 'org', container: 'text' },
  { ext: 'mediawiki', mediaType: 'text/x-mediawiki', reads: 'mediawiki', writes: 'mediawiki', container: 'text' },
  { ext: 'wiki', mediaType: 'text/x-mediawiki', aliasOf: 'mediawiki' },
  { ext: 'textile', mediaType: 'text/x-textile', reads: 'textile', writes: 'textile', container: 'text' },
  { ext: 'ipynb', mediaType: 'application/x-ipynb+json', reads: 'ipynb', writes: 'ipynb', container: 'text' },
  { ext: 'jira', mediaType: 'text/x-jira', reads: 'jira', writes: 'jira', container: 'text' },
  { ext: 'muse', mediaType: 'text/x-muse', reads: 'muse', container: 'text' },
  { ext: 't2t', mediaType: 'text/x-txt2tags', reads: 't2t', container: 'text' },
  { ext: 'creole', mediaType: 'text/x-creole', reads: 'creole', container: 'text' },
  { ext: 'dokuwiki', mediaType: 'text/x-dokuwiki', reads: 'dokuwiki', writes: 'dokuwiki', container: 'text' },
  { ext: 'tikiwiki', mediaType: 'text/x-tikiwiki', reads: 'tikiwiki', container: 'text' },
  { ext: 'twiki', mediaType: 'text/x-twiki', reads: 'twiki', container: 'text' },
  { ext: 'vimwiki', mediaType: 'text/x-vimwiki', reads: 'vimwiki', container: 'text' },
  { ext: 'haddock', mediaType: 'text/x-haddock', reads: 'haddock', writes: 'haddock', container: 'text' },
  { ext: 'man', mediaType: 'text/troff', reads: 'man', writes: 'man', container: 'text' },
  { ext: 'adoc', mediaType: 'text/x-asciidoc', writes: 'asciidoc' },
  { ext: 'asciidoc', mediaType: 'text/x-asciidoc', aliasOf: 'adoc' },
  { ext: 'xwiki', mediaType: 'text/x-xwiki', writes: 'xwiki' },
  { ext: 'zimwiki', mediaType: 'text/x-zim-wiki', writes: 'zimwiki' },
  { ext: 'tei', mediaType: 'application/tei+xml', writes: 'tei' },
  { ext: 'texi', mediaType: 'application/x-texinfo', writes: 'texinfo' },
  { ext: 'texinfo', mediaType: 'application/x-texinfo', aliasOf: 'texi' },
  { ext: 'icml', mediaType: 'application/x-icml+xml', writes: 'icml' },
  { ext: 'ms', mediaType: 'text/troff', writes: 'ms' },
];

/** The formats of poppler and Ghostscript. */
export const pageFormats: Format[] = [
  { ext: 'pdf', mediaType: 'application/pdf' },
  { ext: 'ps', mediaType: 'application/postscript' },
  { ext: 'eps', mediaType: 'application/postscript' },
  { ext: 'png', mediaType: 'image/png' },
  { ext: 'jpg', mediaType: 'image/jpeg' },
  { ext: 'jpeg', mediaType: 'image/jpeg', aliasOf: 'jpg' },
  { ext: 'webp', mediaType: 'image/webp' },
  { ext: 'tiff', mediaType: 'image/tiff' },
  { ext: 'tif', mediaType: 'image/tiff', aliasOf: 'tiff' },
  { ext: 'svg', mediaType: 'image/svg+xml' },
];

/** Formats of one table. LibreOffice writes a file for each sheet. */
export const perSheet = ['csv', 'tsv', 'slk'];

const office = new Map(officeFormats.map((format) => [format.ext, format]));
const markup = new Map(markupFormats.map((format) => [format.ext, format]));

/** Finds how LibreOffice handles a format. */
export function officeFormat(ext: string): OfficeFormat | undefined {
  return office.get(ext);
}

/** Finds how pandoc handles a format. */
export function markupFormat(ext: string): MarkupFormat | undefined {
  return markup.get(ext);
}
