import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { defined } from '../../../../shared/defined.ts';
import { officeFormat } from '../formats.ts';
import type { OfficeProperties, OfficeRequest } from './office.ts';

const delimiters: Record<string, string> = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };
const codeOf = (delimiter: string) => (delimiters[delimiter] ?? ',').charCodeAt(0);
const utf8 = 76;
/** Locales for decimal separators: a point in English, a comma in German, independent of the machine's language. */
const english = 1033;
const german = 1031;

/** Returns the import filter of a format and its options. No other importer reads the file. */
export function loading(format: string, options: OptionValues, table?: Table): OfficeProperties {
  const FilterName = officeFormat(format)?.reads;
  if (FilterName === undefined) throw new Error(`LibreOffice does not read ${format}.`);
  switch (format) {
    case 'txt':
      return { FilterName, FilterOptions: 'UTF8,LF,,,' };
    case 'csv':
    case 'tsv': {
      const separator = codeOf(table?.delimiter ?? 'comma');
      const language = table?.decimalComma ? german : english;
      const types = table?.columns.map(({ isNumber }, index) => `${index + 1}/${isNumber ? 1 : 2}`).join('/') ?? '';
      const detect = options.column_types === 'detect';
      // Formulas are never evaluated.
      return {
        FilterName,
        FilterOptions: `${separator},34,${utf8},1,${detect ? '' : types},${language},false,${detect},false,false,false,0,false`,
      };
    }
    case 'slk':
      return { FilterName, FilterOptions: String(utf8) };
    default:
      return typeof options.password === 'string' ? { FilterName, Password: options.password } : { FilterName };
  }
}

/** Returns the export filter of a format for a kind of document. */
export function storing(from: string, to: string, options: OptionValues): OfficeProperties {
  if (to === 'pdf') return storingPdf(from, options);
  const written = officeFormat(to);
  const FilterName = written?.writes;
  if (FilterName === undefined) throw new Error(`LibreOffice does not write ${to}.`);
  const sheets = officeFormat(from)?.kind === 'sheet';
  switch (to) {
    case 'txt':
      return { FilterName, FilterOptions: 'UTF8,LF,,,false' };
    case 'html':
      return sheets
        ? { FilterName: 'HTML (StarCalc)', FilterOptions: 'SkipImages' }
        : { FilterName, FilterOptions: 'EmbedImages' };
    case 'csv':
    case 'tsv': {
      const separator = codeOf(to === 'tsv' ? 'tab' : from === 'csv' ? 'comma' : String(options.csv_delimiter));
      return {
        FilterName,
        FilterOptions: `${separator},34,${utf8},1,,${english},false,true,true,false,false,0`,
      };
    }
    case 'slk':
      return { FilterName, FilterOptions: String(utf8) };
    default: {
      const password = written?.protectable ? options.output_password : undefined;
      if (typeof password !== 'string') return { FilterName };
      // OpenDocument takes the password itself; Office formats take only the encryption data.
      return to.startsWith('od')
        ? { FilterName, Password: password }
        : { FilterName, EncryptionData: { OOXPassword: password, CryptoType: 'Standard' } };
    }
  }
}

const pdfExporters = {
  text: 'writer_pdf_Export',
  sheet: 'calc_pdf_Export',
  slides: 'impress_pdf_Export',
  drawing: 'draw_pdf_Export',
};

/** Returns the part of PDF/A that the options request, or 0. */
export function pdfPart({ pdf_a: version }: OptionValues): number {
  return Number.parseInt(String(version), 10) || 0;
}

function storingPdf(from: string, options: OptionValues): OfficeProperties {
  const resolution = Number(options.image_resolution ?? 0);
  return {
    FilterName: pdfExporters[officeFormat(from)?.kind ?? 'text'],
    FilterData: {
      SelectPdfVersion: pdfPart(options),
      // Set by pdf/ua. LibreOffice adds the tags itself.
      ...(options.universal === true ? { PDFUACompliance: true, UseTaggedPDF: true } : {}),
      Quality: Number(options.image_quality ?? 90),
      ReduceImageResolution: resolution > 0,
      ...(resolution > 0 ? { MaxImageResolution: resolution } : {}),
      // Forms and scripts of the document are dropped: only its pages are needed.
      ExportFormFields: false,
      // As in LibreOffice's own settings: comments would be marks over the text, and their windows are not on the page.
      ExportNotes: false,
      IsSkipEmptyPages: false,
    },
  };
}

/** Hundredths of a millimetre, in portrait. */
const papers: Record<string, [width: number, height: number]> = {
  a3: [29_700, 42_000],
  a4: [21_000, 29_700],
  a5: [14_800, 21_000],
  b5: [17_600, 25_000],
  letter: [21_590, 27_940],
  legal: [21_590, 35_560],
  tabloid: [27_940, 43_180],
};

/** Returns the paper that the options request, if any. */
export function paper(options: OptionValues): OfficeRequest['page'] {
  const { page_size, page_orientation } = options;
  if (page_size === undefined && page_orientation === undefined) return undefined;
  const [width, height] = papers[String(page_size)] ?? [];
  const landscape = page_orientation === undefined ? undefined : page_orientation === 'landscape';
  return defined({ width, height, landscape });
}

/** Detects the delimiter of a CSV file: the one that occurs equally often in its first lines, outside quotes. */
function guessDelimiter(text: string): string {
  const lines = text
    .slice(0, 65_536)
    .replace(/"[^"]*"/g, '')
    .split(/\r\n|\r|\n/)
    .filter((line) => line !== '')
    .slice(0, 20);
  const scoreOf = (sign: string, counted = lines) => {
    const counts = counted.map((line) => line.split(sign).length - 1);
    const first = counts[0] ?? 0;
    return first * counts.filter((count) => count === first).length;
  };
  const scores = Object.values(delimiters).map((sign) => scoreOf(sign));
  // If there is another delimiter, a comma between digits is a decimal comma.
  if (scores.slice(1).some((score) => score >= lines.length)) {
    const withoutDecimals = lines.map((line) => line.replaceAll(/(?<=\d),(?=\d)/g, ''));
    scores[0] = scoreOf(',', withoutDecimals);
  }
  const best = Math.max(...scores);
  return best === 0 ? 'comma' : (Object.keys(delimiters)[scores.indexOf(best)] ?? 'comma');
}

interface Column {
  /** Whether each of its values stays the same when it is read as a number. */
  isNumber: boolean;
  /** Decimal places, if all numbers have the same. */
  decimals: number;
}

/** Properties of a delimited text. */
export interface Table {
  delimiter: string;
  /** Whether fractions are written with a comma. */
  decimalComma: boolean;
  columns: Column[];
}

/** A number that a spreadsheet stores exactly: without a plus sign, without leading zeros, with at most 15 digits. */
const plainNumber = /^-?(?=(?:\D?\d){1,15}$)(?:0|[1-9]\d*)(?:[.,](\d+))?$/;

class ColumnFinder {
  #numbers = 0;
  #texts = 0;
  #others = 0;
  #endsInZero = false;
  #places = new Set<number>();
  points = 0;
  /** Number of values with a decimal comma, and of those in which the comma cannot separate thousands. */
  commas = 0;
  clearCommas = 0;

  add(value: string, isFirst: boolean): void {
    if (value === '') return;
    const match = plainNumber.exec(value);
    if (!match) {
      if (isFirst) return;
      if (/\d/.test(value)) this.#others += 1;
      else this.#texts += 1;
      return;
    }
    this.#numbers += 1;
    const places = match[1]?.length ?? 0;
    this.#places.add(places);
    if (places > 0 && value.endsWith('0')) this.#endsInZero = true;
    if (value.includes('.')) this.points += 1;
    if (!value.includes(',')) return;
    this.commas += 1;
    if (places !== 3) this.clearCommas += 1;
  }

  /** A word such as "n/a" between numbers stays a word. In a column with codes such as "A12", numbers are codes as well. */
  finish(decimalComma: boolean): Column {
    const [places = 0, ...otherPlaces] = this.#places;
    const isUniform = otherPlaces.length === 0;
    const isNumber =
      this.#numbers > this.#texts &&
      this.#others === 0 &&
      (decimalComma ? this.points : this.commas) === 0 &&
      // A number format can show "1.50" and "2.00" as written, but not "1.9" and "1.10".
      (isUniform || !this.#endsInZero);
    return { isNumber, decimals: isNumber && isUniform ? places : 0 };
  }
}

/** Determines how to read a delimited text so that no value changes. */
export function tableOf(text: string, delimiter = guessDelimiter(text)): Table {
  const sign = delimiters[delimiter] ?? ',';
  const finders: ColumnFinder[] = [];
  forEachCell(text, sign, (value, column, row) => {
    finders[column] ??= new ColumnFinder();
    finders[column].add(value, row === 0);
  });
  const found = Array.from(finders, (finder) => finder ?? new ColumnFinder());
  const decimalComma =
    sign !== ',' && found.some(({ clearCommas }) => clearCommas > 0) && found.every(({ points }) => points === 0);
  return { delimiter, decimalComma, columns: found.map((finder) => finder.finish(decimalComma)) };
}

/** Calls back for each cell of a delimited text, without quotes around values. */
function forEachCell(text: string, sign: string, onCell: (value: string, column: number, row: number) => void): void {
  let [column, row, at] = [0, 0, text.startsWith('\ufeff') ? 1 : 0];
  while (at < text.length) {
    let end = at;
    if (text[at] === '"') {
      end += 1;
      while (end < text.length && (text[end] !== '"' || text[end + 1] === '"')) end += text[end] === '"' ? 2 : 1;
      end += 1;
    }
    while (end < text.length && text[end] !== sign && text[end] !== '\n' && text[end] !== '\r') end += 1;
    const value = text.slice(at, end);
    onCell(value.startsWith('"') ? value.slice(1, value.endsWith('"') ? -1 : undefined) : value, column, row);
    if (text[end] === sign) column += 1;
    else {
      column = 0;
      row += 1;
      if (text[end] === '\r' && text[end + 1] === '\n') end += 1;
    }
    at = end + 1;
  }
}
