import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../../runtime/engine.ts';
import { type Programs, runTool } from '../../runtime/pdf-file.ts';
import { isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';
import { boundsOf, type Point, type Shape } from './shapes.ts';

interface Samples {
  data: Buffer;
  width: number;
  height: number;
  components: number;
  bits: number;
}

interface Order {
  image: string | { dict: PdfDict; data: Buffer };
  shapes: Shape[];
  copy: string;
}

/** Makes copies of images without what is under shapes. They are ordered while content is rewritten, and made afterwards. */
export class Blanks {
  readonly #pdf: PdfObjects;
  readonly #orders = new Map<string, Order>();

  constructor(pdf: PdfObjects) {
    this.#pdf = pdf;
  }

  /** Returns the reference of a copy. Shapes are in coordinates of the unit square that shows the image. */
  order(image: Order['image'], shapes: Shape[]): string {
    const places = shapes.map((shape) => shape.map(([x, y]) => [x.toFixed(5), y.toFixed(5)]));
    const key = typeof image === 'string' ? `${image} ${JSON.stringify(places)}` : `inline ${this.#orders.size}`;
    const order = this.#orders.get(key) ?? { image, shapes, copy: this.#pdf.add(null) };
    this.#orders.set(key, order);
    return order.copy;
  }

  async make(space: Programs): Promise<void> {
    for (const { image, shapes, copy } of this.#orders.values()) {
      const source = typeof image === 'string' ? image : this.#pdf.addBytes(image.dict, image.data);
      const { dict, data } = await this.#blank(source, shapes, space);
      this.#pdf.setStream(copy, dict, data);
    }
  }

  async #blank(source: string, shapes: Shape[], space: Programs): Promise<{ dict: PdfDict; data: Buffer }> {
    const dict = this.#pdf.dict(source) ?? {};
    const changed: PdfDict = { ...dict };
    for (const key of [
      '/Filter',
      '/DecodeParms',
      '/Metadata',
      '/Alternates',
      '/OPI',
      '/PieceInfo',
      '/Length',
      '/SMaskInData',
    ])
      delete changed[key];
    for (const key of ['/SMask', '/Mask']) {
      const mask = dict[key];
      if (!isReference(mask) || !this.#pdf.isStream(mask)) continue;
      const made = await this.#blank(mask, shapes, space);
      changed[key] = this.#pdf.addBytes(made.dict, made.data);
    }
    const filters = [this.#pdf.lookup(dict['/Filter'])].flat().map(String);
    const isPhoto = filters.at(-1) === '/DCTDecode';
    const isPlain = filters.length === 1 && filters[0] === 'null';
    const samples = isPlain
      ? this.#samples(dict, this.#pdf.stream(source))
      : isPhoto
        ? this.#samples({ ...dict, '/BitsPerComponent': 8 }, await decodedByQpdf(source, this.#pdf, space))
        : await decodedByPoppler(source, this.#pdf, changed, space);
    const isStencil = this.#pdf.lookup(dict['/ImageMask']) === true;
    const isInverse = this.#pdf.lookup(this.#pdf.array(changed['/Decode'])[0]) === 1;
    blankSamples(samples, shapes, isStencil && !isInverse ? 255 : 0);
    if (!isPhoto || ![1, 3].includes(samples.components)) return { dict: changed, data: samples.data };
    const { default: sharp } = await import('sharp');
    const { width, height, components } = samples;
    const channels = components === 1 ? 1 : 3;
    const data = await sharp(samples.data, { raw: { width, height, channels } })
      .jpeg({ quality: 92, chromaSubsampling: '4:4:4' })
      .toBuffer();
    return { dict: { ...changed, '/Filter': '/DCTDecode' }, data };
  }

  #samples(dict: PdfDict, data: Buffer): Samples {
    const number = (key: string) => Number(this.#pdf.lookup(dict[key]) ?? 0);
    const [width, height] = [number('/Width'), number('/Height')];
    const bits = this.#pdf.lookup(dict['/ImageMask']) === true ? 1 : number('/BitsPerComponent') || 8;
    if (!(width > 0 && height > 0) || ![1, 2, 4, 8, 16].includes(bits)) throw unreadable();
    const components =
      componentsOf(dict['/ColorSpace'], this.#pdf) ??
      Math.max(1, Math.floor((data.length * 8) / (width * height * bits)));
    const length = Math.ceil((width * components * bits) / 8) * height;
    const whole = Buffer.alloc(length);
    data.copy(whole);
    return { data: whole, width, height, components, bits };
  }
}

function unreadable(): EngineError {
  return new EngineError(
    'A picture under an area could not be read. It is damaged, or of a kind that is not supported.',
  );
}

/** Returns the number of components of a color space. */
export function componentsOf(value: PdfValue | undefined, pdf: PdfObjects): number | undefined {
  const space = pdf.lookup(value);
  const [kind, second] = Array.isArray(space) ? space.map((each) => pdf.lookup(each)) : [space];
  switch (kind) {
    case '/DeviceGray':
    case '/CalGray':
    case '/Indexed':
    case '/Separation':
      return 1;
    case '/DeviceRGB':
    case '/CalRGB':
    case '/Lab':
      return 3;
    case '/DeviceCMYK':
      return 4;
    case '/ICCBased':
      return Number(pdf.lookup(pdf.dict(second)?.['/N'])) || undefined;
    case '/DeviceN':
      return pdf.array(second).length || undefined;
    default:
      return undefined;
  }
}

/** Returns the samples of a JPEG in its own color space. */
async function decodedByQpdf(source: string, pdf: PdfObjects, space: Programs): Promise<Buffer> {
  const folder = join(space.folder, 'photo');
  await mkdir(folder, { recursive: true });
  const single = join(folder, 'single.pdf');
  const list = join(folder, 'list.json');
  await onlyImage(source, pdf, single, space);
  const data = [`--json-stream-prefix=${join(folder, 'stream')}`, '--json-stream-data=file', '--decode-level=all'];
  await runTool('qpdf', ['--json=2', '--json-key=qpdf', ...data, '--warning-exit-0', single, list], space);
  const { qpdf }: { qpdf: [unknown, Record<string, { stream?: { dict: PdfDict; datafile: string } }>] } = JSON.parse(
    await readFile(list, 'utf8'),
  );
  const found = Object.values(qpdf[1]).find(({ stream }) => stream?.dict['/Name'] === '/Wanted')?.stream;
  if (!found || found.dict['/Filter'] !== undefined) throw unreadable();
  const samples = await readFile(found.datafile);
  await rm(folder, { recursive: true });
  return samples;
}

/** Decodes an image of fax or JPEG 2000 compression, and changes its dictionary accordingly. */
async function decodedByPoppler(source: string, pdf: PdfObjects, dict: PdfDict, space: Programs): Promise<Samples> {
  const folder = join(space.folder, 'picture');
  await mkdir(folder, { recursive: true });
  const single = join(folder, 'single.pdf');
  await onlyImage(source, pdf, single, space);
  await runTool('pdfimages', ['-png', single, join(folder, 'image')], space);
  const [file] = (await readdir(folder)).filter((name) => name.endsWith('.png')).toSorted();
  if (file === undefined) throw unreadable();
  const { default: sharp } = await import('sharp');
  const { data, info } = await sharp(join(folder, file), { limitInputPixels: false })
    .removeAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  await rm(folder, { recursive: true });
  const { width, height, channels } = info;
  delete dict['/Decode'];
  const isStencil = pdf.lookup(dict['/ImageMask']) === true;
  if (isStencil || pdf.lookup(dict['/BitsPerComponent']) === 1) {
    if (!isStencil) dict['/ColorSpace'] = '/DeviceGray';
    return { data: packed(data, width, height, channels), width, height, components: 1, bits: 1 };
  }
  dict['/ColorSpace'] = channels === 1 ? '/DeviceGray' : '/DeviceRGB';
  dict['/BitsPerComponent'] = 8;
  dict['/Width'] = width;
  dict['/Height'] = height;
  return { data, width, height, components: channels, bits: 8 };
}

function packed(data: Buffer, width: number, height: number, channels: number): Buffer {
  const row = Math.ceil(width / 8);
  const result = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if ((data[(y * width + x) * channels] ?? 0) < 128) continue;
      const at = y * row + (x >> 3);
      result[at] = (result[at] ?? 0) | (0x80 >> (x & 7));
    }
  }
  return result;
}

/** Writes a PDF with a page that shows one image without its masks. */
async function onlyImage(source: string, pdf: PdfObjects, path: string, space: Programs): Promise<void> {
  const single = pdf.fresh();
  const dict = pdf.dict(source) ?? {};
  const image = single.addBytes(
    { ...dict, '/SMask': undefined, '/Mask': undefined, '/Name': '/Wanted' },
    pdf.stream(source),
  );
  const page = single.add({
    '/Type': '/Page',
    '/MediaBox': [0, 0, 100, 100],
    '/Resources': { '/XObject': { '/Image': image } },
    '/Contents': single.addStream({}, '100 0 0 100 0 0 cm /Image Do'),
    '/Parent': single.catalog['/Pages'],
  });
  single.update(single.catalog['/Pages'], { '/Kids': [page], '/Count': 1 });
  single.update(single.trailer['/Root'], {
    '/AcroForm': undefined,
    '/Names': undefined,
    '/Outlines': undefined,
    '/StructTreeRoot': undefined,
  });
  await single.write(path, space);
}

/** Sets the samples under shapes of the unit square to one value. */
export function blankSamples({ data, width, height, components, bits }: Samples, shapes: Shape[], value: number): void {
  const row = Math.ceil((width * components * bits) / 8);
  for (const shape of shapes) {
    const pixels = shape.map(([x, y]): Point => [x * width, (1 - y) * height]);
    const { bottom: first, top: last } = boundsOf(pixels);
    for (let y = Math.max(0, Math.floor(first)); y < Math.min(height, Math.ceil(last)); y++) {
      const { left, right } = boundsOf(acrossRow(pixels, y));
      const from = Math.max(0, Math.floor(left)) * components * bits;
      const to = Math.min(width, Math.ceil(right)) * components * bits;
      for (let bit = from; bit < to; ) {
        const at = y * row + (bit >> 3);
        if (bit % 8 === 0 && to - bit >= 8) {
          data[at] = value;
          bit += 8;
        } else {
          const mask = 0x80 >> (bit & 7);
          data[at] = value === 0 ? (data[at] ?? 0) & ~mask : (data[at] ?? 0) | mask;
          bit++;
        }
      }
    }
  }
}

/** Returns the corners of the part of a convex shape in a row of pixels. */
function acrossRow(shape: Shape, y: number): Point[] {
  const found: Point[] = shape.filter(([, each]) => each >= y && each <= y + 1);
  for (const [index, [x1, y1]] of shape.entries()) {
    const [x2, y2] = shape[(index + 1) % shape.length] ?? [x1, y1];
    for (const edge of [y, y + 1]) {
      if (y1 < edge === y2 < edge) continue;
      found.push([x1 + ((x2 - x1) * (edge - y1)) / (y2 - y1), edge]);
    }
  }
  return found;
}
