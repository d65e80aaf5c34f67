import sharp, { type Raw, type Sharp } from 'sharp';

/** Operations in the order in which sharp performs them, whatever the order of the calls. */
const order = ['flatten', 'crop', 'scale', 'turn', 'cut', 'extend', 'blur', 'sharpen', 'composite'] as const;
type Step = (typeof order)[number];

/** What the pixels keep between two pipelines. */
export interface Keeping {
  /** More than 8 bits per channel. */
  isDeep: boolean;
  /** Metadata and the colour profile, which raw pixels cannot carry. */
  metadata: boolean;
}

export interface Pixels {
  data: Buffer;
  width: number;
  height: number;
  channels: 3 | 4;
}

/**
 * Performs steps in the order of the calls. As many as possible share a pipeline of libvips, which streams the pixels through
 * all of them. A step that sharp would perform too early starts another pipeline.
 */
export class Stages {
  readonly #keeping: Keeping;
  #image: Sharp;
  #last = -1;

  constructor(image: Sharp, keeping: Keeping) {
    this.#image = image;
    this.#keeping = keeping;
  }

  /** The pipeline that is not finished yet. */
  get image(): Sharp {
    return this.#image;
  }

  async step(name: Step, apply: (image: Sharp) => unknown): Promise<void> {
    const rank = order.indexOf(name);
    if (rank <= this.#last) await this.settle();
    apply(this.#image);
    this.#last = rank;
  }

  /** Computes the pixels and starts another pipeline with them. */
  async settle(): Promise<void> {
    this.#last = -1;
    if (this.#keeping.metadata) {
      const png = await this.#image.keepMetadata().png({ compressionLevel: 0 }).toBuffer();
      this.#image = sharp(png, { limitInputPixels: false });
    } else if (this.#keeping.isDeep) {
      const { data, info } = await this.#image
        .toColourspace('rgb16')
        .raw({ depth: 'ushort' })
        .toBuffer({ resolveWithObject: true });
      const pixels = new Uint16Array(data.buffer, data.byteOffset, data.length / 2);
      this.#image = open(pixels, info);
    } else {
      const { data, info } = await this.#image.raw().toBuffer({ resolveWithObject: true });
      this.#image = open(data, info);
    }
  }

  /** Computes the pixels with 8 bits per channel, and continues with what `change` returns. */
  async change(change: (pixels: Pixels) => Pixels): Promise<void> {
    const pixels = change(await pixelsOf(this.#image));
    this.#last = -1;
    this.#image = open(pixels.data, pixels);
  }
}

function open(data: Buffer | Uint16Array, { width, height, channels }: Raw): Sharp {
  return sharp(data, { limitInputPixels: false, raw: { width, height, channels } });
}

/** Computes the pixels of a pipeline with 8 bits per channel, in colour. */
export async function pixelsOf(image: Sharp): Promise<Pixels> {
  const { data, info } = await image.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (channels !== 3 && channels !== 4) throw new Error(`Expected three or four channels but received ${channels}.`);
  return { data, width, height, channels };
}

/** Opens pixels for another pipeline. */
export function openPixels({ data, ...raw }: Pixels): Sharp {
  return open(data, raw);
}
