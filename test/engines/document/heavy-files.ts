import { constants, deflateRawSync, deflateSync } from 'node:zlib';

/** Writes a PDF of objects numbered from 1; the first is its catalogue. */
export function pdfOf(objects: (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  const add = (text: string | Buffer) => {
    const bytes = Buffer.from(text);
    parts.push(bytes);
    length += bytes.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    add(`${index + 1} 0 obj\n`);
    add(object);
    add('\nendobj\n');
  }
  const start = length;
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  add(
    `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
  );
  return Buffer.concat(parts);
}

/** Writes a stream with the entries of its dictionary. */
export function stream(entries: string, data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([
    Buffer.from(`<< ${entries} /Length ${bytes.length} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ]);
}

const helvetica = '/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>';
const text = 'BT /F 12 Tf 20 100 Td (Lathe page) Tj ET\n';

interface PageFacts {
  /** Entries of the page, such as its box. */
  entries?: string;
  content?: string | Buffer;
  contentEntries?: string;
  resources?: string;
}

/** Writes a PDF of one page; further objects are numbered from 5. */
export function onePage(
  { entries = '/MediaBox [0 0 200 200]', content = text, contentEntries = '', resources = '' }: PageFacts,
  further: (string | Buffer)[] = [],
): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R ${entries} /Contents 4 0 R /Resources << ${helvetica} ${resources} >> >>`,
    stream(contentEntries, content),
    ...further,
  ]);
}

/** A few kilobytes of forms that each draw the next ten times: a line of text is drawn ten trillion times. */
export function nestedForms({ levels = 13, page = '0 0 200 200' } = {}): Buffer {
  const box = '/Type /XObject /Subtype /Form /BBox [0 0 200 200]';
  const forms = Array.from({ length: levels }, (_, level) =>
    level === levels - 1
      ? stream(`${box} /Resources << ${helvetica} >>`, `${text}0 0 50 50 re f`)
      : stream(`${box} /Resources << /XObject << /X ${level + 6} 0 R >> >>`, '/X Do '.repeat(10)),
  );
  const entries = `/MediaBox [${page}]`;
  return onePage({ entries, content: `${text}/X Do`, resources: '/XObject << /X 5 0 R >>' }, forms);
}

/** A page with the box given, which a renderer would allocate memory for. */
export function hugePage(box = '0 0 1000000000 1000000000', entries = ''): Buffer {
  return onePage({ entries: `/MediaBox [${box}] ${entries}` });
}

/** Compresses zeros without ever having them: a block that is complete in itself is repeated. */
export function deflatedZeros(length: number): Buffer {
  const blockBytes = 1_000_000;
  const block = deflateRawSync(Buffer.alloc(blockBytes), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const rest = deflateRawSync(Buffer.alloc(length % blockBytes), { level: 9 });
  const check = Buffer.alloc(4);
  check.writeUInt16BE(length % 65_521, 0);
  check.writeUInt16BE(1, 2);
  const blocks = Array<Buffer>(Math.floor(length / blockBytes)).fill(block);
  return Buffer.concat([Buffer.from([0x78, 0xda]), ...blocks, rest, check]);
}

/** A page with text and a picture, given by the entries and bytes of its stream. */
function pagePicture(entries: string, data: Buffer): Buffer {
  return onePage({ content: `${text}q 100 0 0 100 50 50 cm /I Do Q`, resources: '/XObject << /I 5 0 R >>' }, [
    stream(`/Type /XObject /Subtype /Image ${entries}`, data),
  ]);
}

/** A picture of 900 million pixels in a few kilobytes. */
export function twiceDeflatedPicture(side = 30_000, space = 'DeviceRGB', channels = 3): Buffer {
  const entries = `/Width ${side} /Height ${side} /BitsPerComponent 8 /ColorSpace /${space}`;
  const data = deflateSync(deflatedZeros(side * side * channels), { level: 9 });
  return pagePicture(`${entries} /Filter [/FlateDecode /FlateDecode]`, data);
}

/** The same with its size in other objects, which a reader has to follow. */
export function hiddenPicture(side = 30_000): Buffer {
  const data = deflateSync(deflatedZeros(side * side * 3), { level: 9 });
  const entries = '/Width 6 0 R /Height 6 0 R /BitsPerComponent 8 /ColorSpace /DeviceRGB';
  return onePage({ content: `${text}q 100 0 0 100 50 50 cm /I Do Q`, resources: '/XObject << /I 5 0 R >>' }, [
    stream(`/Type /XObject /Subtype /Image ${entries} /Filter [/FlateDecode /FlateDecode]`, data),
    String(side),
  ]);
}

/** A page that fills a square for as long as its content goes on, which is a gigabyte behind two filters. */
export function endlessContent(bytes = 1_000_000_000): Buffer {
  const block = deflateRawSync(Buffer.from('0 0 9 9 re f '.repeat(100_000)), {
    level: 9,
    finishFlush: constants.Z_FULL_FLUSH,
  });
  const blocks = Array<Buffer>(Math.ceil(bytes / 1_300_000)).fill(block);
  const whole = Buffer.concat([Buffer.from([0x78, 0xda]), ...blocks, deflateRawSync(Buffer.alloc(0)), Buffer.alloc(4)]);
  return onePage({ content: deflateSync(whole, { level: 9 }), contentEntries: '/Filter [/FlateDecode /FlateDecode]' });
}

/** A page filled with a tile of a thousandth of a point, which is itself filled with such tiles. */
export function tinyTiles(): Buffer {
  const tile = (resources: string, content: string) =>
    stream(
      `/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep 0.001 /YStep 0.001 /Resources << ${resources} >>`,
      content,
    );
  const fill = '/Pattern cs /P scn 0 0 200 200 re f';
  return onePage({ content: `${text}${fill}`, resources: '/Pattern << /P 5 0 R >>' }, [
    tile('/Pattern << /P 6 0 R >>', fill),
    tile('', '0 0 1 1 re f'),
  ]);
}

/** A PDF of many pages with a line of text each. */
export function manyPages(count: number): Buffer {
  const kids = Array.from({ length: count }, (_, index) => `${index + 4} 0 R`).join(' ');
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${count} /MediaBox [0 0 200 200] /Resources << ${helvetica} >> >>`,
    stream('', text),
    ...Array<string>(count).fill('<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>'),
  ]);
}

/** A fax of 3.6 billion pixels: one bit says that a line is as white as the line before. */
export function faxPicture(side = 60_000): Buffer {
  const entries = `/Width ${side} /Height ${side} /BitsPerComponent 1 /ColorSpace /DeviceGray`;
  const fax = `/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns ${side} /Rows ${side} >>`;
  return pagePicture(`${entries} ${fax}`, Buffer.alloc(side / 8, 0xff));
}

/** A drawing that never stops making pages. */
export const endlessPages = '%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n{ showpage } loop\n';
