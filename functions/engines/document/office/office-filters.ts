import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { officeFormat } from '../formats.ts';
import type { OfficeProperties, OfficeRequest } from './office.ts';

const delimiters: Record<string, number> = { comma: 44, semicolon: 59, tab: 9, pipe: 124 };
const utf8 = 76;
/** English: a point is a decimal point, whatever the machine's language. */
const english = 1033;

/** Returns the import filter of a format and its options; no other importer ever reads the file. */
export function loading(format: string, options: OptionValues, delimiter: string): OfficeProperties {
  const password: OfficeProperties = typeof options.password === 'string' ? { Password: options.password } : {};
  if (format === 'pdf') return { FilterName: 'writer_pdf_import' };
  const FilterName = officeFormat(format)?.reads;
  if (FilterName === undefined) throw new Error(`LibreOffice does not read ${format}.`);
  switch (format) {
    case 'txt':
      return { FilterName, FilterOptions: 'UTF8,LF,,,' };
    case 'csv':
    case 'tsv': {
      const separator = format === 'tsv' ? 9 : (delimiters[delimiter] ?? 44);
      // Plain numbers are numbers; what looks like a date stays as written, and formulas are never evaluated.
      return {
        FilterName,
        FilterOptions: `${separator},34,${utf8},1,,${english},false,false,false,false,false,0,false`,
      };
    }
    case 'slk':
      return { FilterName, FilterOptions: String(utf8) };
    default:
      return { FilterName, ...password };
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
      const separator = to === 'tsv' ? 9 : from === 'csv' ? 44 : (delimiters[String(options.csv_delimiter)] ?? 44);
      return {
        FilterName,
        FilterOptions: `${separator},34,${utf8},1,,${english},false,true,false,false,false,0`,
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
const pdfParts: Record<string, number> = { '1b': 1, '2b': 2, '3b': 3 };

function storingPdf(from: string, options: OptionValues): OfficeProperties {
  const resolution = Number(options.image_resolution ?? 0);
  return {
    FilterName: pdfExporters[officeFormat(from)?.kind ?? 'text'],
    FilterData: {
      SelectPdfVersion: pdfParts[String(options.pdf_a)] ?? 0,
      Quality: Number(options.image_quality ?? 90),
      ReduceImageResolution: resolution > 0,
      ...(resolution > 0 ? { MaxImageResolution: resolution } : {}),
      // Forms and scripts of the document are dropped: only its pages are needed.
      ExportFormFields: false,
      // As in LibreOffice's own settings: comments would be marks over the text, whose windows have no place on the page.
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
  const size = papers[String(options.page_size)];
  const orientation = options.page_orientation;
  if (!size && orientation === undefined) return undefined;
  return {
    ...(size ? { width: size[0], height: size[1] } : {}),
    ...(orientation === undefined ? {} : { landscape: orientation === 'landscape' }),
  };
}

/** Detects the delimiter of a CSV file: the one that occurs equally often in its first lines, outside quotes. */
export function guessDelimiter(text: string): string {
  const lines = text
    .replace(/"[^"]*"/g, '')
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .slice(0, 20);
  const candidates = [
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
    ['pipe', '|'],
  ] as const;
  let best = 'comma';
  let bestScore = 0;
  for (const [name, sign] of candidates) {
    const counts = lines.map((line) => line.split(sign).length - 1);
    const first = counts[0] ?? 0;
    const score = first * counts.filter((count) => count === first).length;
    if (score > bestScore) {
      best = name;
      bestScore = score;
    }
  }
  return best;
}
