import type { PdfDict, PdfObjects } from '../objects.ts';

/** Of a thousand units per em, as in the metrics of fonts. */
export const em = 1_000;
const ascent = 800;
/** Text of these scripts is written without spaces. */
export const withoutSpaces =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー。、々〆「」『』（）！？：；，．・]/u;
const narrow = /^[iljtfrI.,:;'!|()[\]{}·‘’`-]/;
const wide = /^[mwMW@—%…œæŒÆ]/;

/**
 * A font of all characters that were recognised. It has no shapes: only the widths by which the characters are placed, and
 * their texts.
 */
export class InvisibleFont {
  readonly #codes = new Map<string, number>();

  /** Returns the code of what a reader selects as one character. Returns undefined if there are too many. */
  codeOf(grapheme: string): number | undefined {
    const known = this.#codes.get(grapheme);
    if (known !== undefined || this.#codes.size >= 0xfffe) return known;
    const code = this.#codes.size + 1;
    this.#codes.set(grapheme, code);
    return code;
  }

  /** Adds the font to a PDF, once for horizontal and once for vertical text, and returns it as resources. */
  addTo(pdf: PdfObjects, trueType: Buffer): PdfDict {
    const widths = [...this.#codes.keys()].map(widthOf);
    const glyphWidths = [...new Set(widths)];
    const program = withGlyphs(trueType, glyphWidths).toString('latin1');
    const file = pdf.addStream({ '/Length1': program.length }, program);
    const glyphs = ['\0\0', ...widths.map((width) => `\0${String.fromCharCode(1 + glyphWidths.indexOf(width))}`)];
    const descriptor = pdf.add({
      '/Type': '/FontDescriptor',
      '/FontName': '/GlyphLessFont',
      '/Flags': 5,
      '/FontBBox': [0, ascent - em, em, ascent],
      '/ItalicAngle': 0,
      '/Ascent': ascent,
      '/Descent': ascent - em,
      '/CapHeight': ascent,
      '/StemV': 80,
      '/FontFile2': file,
    });
    const descendant = pdf.add({
      '/Type': '/Font',
      '/Subtype': '/CIDFontType2',
      '/BaseFont': '/GlyphLessFont',
      '/CIDSystemInfo': { '/Registry': 'u:Adobe', '/Ordering': 'u:Identity', '/Supplement': 0 },
      '/FontDescriptor': descriptor,
      '/CIDToGIDMap': pdf.addStream({}, glyphs.join('')),
      '/W': [1, widths],
      '/DW2': [0, -em],
    });
    const toUnicode = pdf.addStream({}, this.#toUnicode());
    const [horizontal, vertical] = ['/Identity-H', '/Identity-V'].map((encoding) =>
      pdf.add({
        '/Type': '/Font',
        '/Subtype': '/Type0',
        '/BaseFont': '/GlyphLessFont',
        '/Encoding': encoding,
        '/DescendantFonts': [descendant],
        '/ToUnicode': toUnicode,
      }),
    );
    return { '/Font': { '/H': horizontal, '/V': vertical } };
  }

  #toUnicode(): string {
    const entries = [...this.#codes].map(
      ([text, code]) => `<${hex(code)}> <${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`,
    );
    const sections: string[] = [];
    for (let start = 0; start < entries.length; start += 100) {
      const section = entries.slice(start, start + 100);
      sections.push(`${section.length} beginbfchar\n${section.join('\n')}\nendbfchar\n`);
    }
    return [
      '/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n',
      '/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n',
      '/CMapName /Adobe-Identity-UCS def /CMapType 2 def\n',
      '1 begincodespacerange <0000> <ffff> endcodespacerange\n',
      ...sections,
      'endcmap CMapName currentdict /CMap defineresource pop end end\n',
    ].join('');
  }
}

export function hex(code: number): string {
  return code.toString(16).padStart(4, '0');
}

/** Returns about how wide a character is, so that the places in a word are about right. */
export function widthOf(grapheme: string): number {
  if (withoutSpaces.test(grapheme)) return em;
  if (narrow.test(grapheme)) return 300;
  if (wide.test(grapheme)) return 850;
  return /^\p{Lu}/u.test(grapheme) ? 680 : 520;
}

/**
 * Returns tesseract's font of one empty glyph with as many of them as there are widths. Some readers place the end of a
 * character by the font's own widths, and see a space after each that is wider.
 */
function withGlyphs(trueType: Buffer, widths: number[]): Buffer {
  const count = trueType.readUInt16BE(4);
  const records = Array.from({ length: count }, (_, index) => trueType.subarray(12 + 16 * index, 28 + 16 * index));
  const tables = new Map(
    records.map((record): [string, Buffer] => {
      const start = record.readUInt32BE(8);
      const data = trueType.subarray(start, start + record.readUInt32BE(12));
      return [record.toString('latin1', 0, 4), Buffer.from(data)];
    }),
  );
  const table = (tag: string): Buffer => {
    const found = tables.get(tag);
    if (!found) throw new Error(`The font has no table ${tag}.`);
    return found;
  };
  const unitsPerEm = table('head').readUInt16BE(18);
  const advances = [0, ...widths.map((width) => Math.round((width * unitsPerEm) / em))];
  const outline = table('glyf');
  table('hhea').writeUInt16BE(Math.max(...advances), 10);
  table('hhea').writeUInt16BE(advances.length, 34);
  table('maxp').writeUInt16BE(advances.length, 4);
  tables.set('hmtx', shorts(advances.flatMap((advance) => [advance, 0])));
  tables.set('loca', shorts([0, ...advances.map((_, index) => (index * outline.length) / 2)]));
  tables.set('glyf', Buffer.concat(widths.map(() => outline)));
  return font(trueType.subarray(0, 12), tables);
}

function font(start: Buffer, tables: Map<string, Buffer>): Buffer {
  tables.get('head')?.writeUInt32BE(0, 8);
  let offset = start.length + 16 * tables.size;
  const records: Buffer[] = [];
  const contents: Buffer[] = [];
  for (const [tag, data] of tables) {
    const padded = Buffer.concat([data, Buffer.alloc(-data.length & 3)]);
    const record = Buffer.alloc(16, tag, 'latin1');
    record.writeUInt32BE(checksum(padded), 4);
    record.writeUInt32BE(offset, 8);
    record.writeUInt32BE(data.length, 12);
    records.push(record);
    contents.push(padded);
    offset += padded.length;
  }
  const made = Buffer.concat([start, ...records, ...contents]);
  const head = made.indexOf('head') + 8;
  made.writeUInt32BE((0xb1b0afba - checksum(made)) >>> 0, made.readUInt32BE(head) + 8);
  return made;
}

function checksum(data: Buffer): number {
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) sum = (sum + data.readUInt32BE(at)) >>> 0;
  return sum;
}

function shorts(values: number[]): Buffer {
  const data = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) data.writeUInt16BE(value, 2 * index);
  return data;
}
