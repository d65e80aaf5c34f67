import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import type { Job } from '../job.ts';
import type { PdfDict, PdfObjects, PdfValue } from '../objects.ts';
import { readContent, Shared } from '../redact/content.ts';
import { contentsOf } from '../redact/contents.ts';
import { componentsOf } from '../redact/images.ts';

export interface PictureQuality {
  dpi: number;
  /** As in JPEG. */
  quality: number;
  /** Whether to compress less tightly in less time. */
  isFast?: boolean;
}

/** Smaller ones gain nothing. */
const minBytes = 2_000;
/** Scaling by less blurs more than it saves. */
const minScale = 1.25;
const maxPixels = 150_000_000;

/** Compresses the pictures of a PDF. Those in color spaces of print, with few colors or black and white are left as they are. */
export class Pictures {
  readonly #read: PdfObjects;
  /** Pixels per inch where the picture is largest. */
  readonly #dpi = new Map<string, number>();

  constructor(read: PdfObjects, { signal }: Job) {
    this.#read = read;
    const shared = new Shared();
    for (const page of read.pages) {
      signal.throwIfAborted();
      try {
        const content = { bytes: contentsOf(page, read), resources: read.dict(page)?.['/Resources'] };
        for (const { reference, shape } of readContent(content, read, shared).images) this.#measure(reference, shape);
      } catch (error) {
        if (!(error instanceof Error && error.name === 'UnreadableContent')) throw error;
      }
    }
  }

  #measure(reference: string | undefined, [from = [0, 0], right = [0, 0], , up = [0, 0]]: [number, number][]): void {
    const dict = this.#read.dict(reference);
    if (!reference || !dict) return;
    const distance = (to: [number, number]) => Math.hypot(to[0] - from[0], to[1] - from[1]) || 1e-6;
    const across = (Number(this.#read.lookup(dict['/Width'])) * 72) / distance(right);
    const down = (Number(this.#read.lookup(dict['/Height'])) * 72) / distance(up);
    this.#dpi.set(reference, Math.min(this.#dpi.get(reference) ?? Number.POSITIVE_INFINITY, across, down));
  }

  async compress(objects: PdfObjects, quality: PictureQuality): Promise<void> {
    for (const [reference, dpi] of this.#dpi) {
      const scale = dpi > quality.dpi * minScale ? quality.dpi / dpi : 1;
      const mask = objects.dict(reference)?.['/SMask'];
      await this.#compress(reference, objects, scale, quality);
      if (typeof mask === 'string' && scale < 1) await this.#compress(mask, objects, scale, undefined);
    }
  }

  /** Without a quality, a picture is only scaled. */
  async #compress(
    reference: string,
    objects: PdfObjects,
    scale: number,
    given: PictureQuality | undefined,
  ): Promise<void> {
    const dict = objects.dict(reference) ?? {};
    const data = objects.stream(reference);
    const image = this.#open(dict, data);
    if (!image) return;
    const { width, height, channels, isPhoto, pipeline } = image;
    const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
    const scaled = scale < 1 ? pipeline().resize({ ...size, fit: 'fill', kernel: 'lanczos3' }) : pipeline();
    const options = { quality: given?.quality ?? 100, mozjpeg: given?.isFast !== true };
    const jpeg = given === undefined ? undefined : await scaled.clone().jpeg(options).toBuffer();
    const before = isPhoto ? data.length : deflateSync(data, { level: 6 }).length;
    if (before < minBytes) return;
    const changed: PdfDict = {
      ...dict,
      '/Width': size.width,
      '/Height': size.height,
      '/DecodeParms': undefined,
      '/Filter': undefined,
    };
    // Drawings and pictures of text are smaller without loss, and stay sharp.
    const raw = isPhoto
      ? undefined
      : await scaled
          .clone()
          .toColourspace(channels === 1 ? 'b-w' : 'srgb')
          .raw()
          .toBuffer();
    const rawSize = raw ? deflateSync(raw, { level: 6 }).length : Number.POSITIVE_INFINITY;
    const jpegSize = jpeg?.length ?? Number.POSITIVE_INFINITY;
    if (Math.min(rawSize, jpegSize) > 0.95 * before) return;
    if (raw && rawSize <= jpegSize * 1.1) objects.setStream(reference, changed, raw);
    else if (jpeg) objects.setStream(reference, { ...changed, '/Filter': '/DCTDecode' }, jpeg);
  }

  #open(dict: PdfDict, data: Buffer) {
    const value = (key: string): PdfValue => this.#read.lookup(dict[key]);
    const [width, height] = [Number(value('/Width')), Number(value('/Height'))];
    const filters = [value('/Filter')].flat();
    const isPhoto = filters.length === 1 && filters[0] === '/DCTDecode';
    const channels =
      this.#read.array(dict['/ColorSpace'])[0] === '/Indexed' || value('/ColorSpace') === '/Indexed'
        ? 0
        : componentsOf(dict['/ColorSpace'], this.#read);
    const space = String(this.#read.array(dict['/ColorSpace'])[0] ?? value('/ColorSpace'));
    const isPlain = filters.length === 1 && filters[0] === null;
    const isOdd =
      value('/ImageMask') === true ||
      value('/BitsPerComponent') !== 8 ||
      dict['/Decode'] !== undefined ||
      dict['/SMaskInData'] !== undefined ||
      Array.isArray(value('/Mask')) ||
      (isPhoto && value('/DecodeParms') !== null) ||
      ['/Indexed', '/Separation', '/DeviceN', '/Lab'].includes(space) ||
      this.#read.dict(dict['/SMask'])?.['/Matte'] !== undefined ||
      dict['/Matte'] !== undefined;
    if (isOdd || !(isPhoto || isPlain) || !(width * height > 0 && width * height <= maxPixels)) return undefined;
    if (channels !== 1 && channels !== 3) return undefined;
    if (!isPhoto && data.length < width * height * channels) return undefined;
    const raw = { width, height, channels } as const;
    const pipeline = () =>
      isPhoto
        ? sharp(data, { ignoreIcc: true, limitInputPixels: maxPixels }).toColourspace(channels === 1 ? 'b-w' : 'srgb')
        : sharp(data.subarray(0, width * height * channels), { raw });
    return { width, height, channels, isPhoto, pipeline };
  }
}
