import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import sharp from 'sharp';
import { EngineError } from '../../runtime/engine.ts';
import { maxPixels, maxSvgBytes } from '../limits.ts';

/** The density at which libvips renders one pixel of a drawing as one pixel. */
export const naturalDensity = 72;

const inflate = promisify(gunzip);

export interface Drawing {
  bytes: Buffer;
  /** Size in pixels that the drawing declares. */
  width: number;
  height: number;
  /** Its text contains emoji, which libvips renders without colours. */
  hasEmoji: boolean;
}

const emoji = /\p{Emoji_Presentation}|\ufe0f|&#(?:x1f[0-9a-f]{3}|12[789]\d{3});/iu;

/**
 * Prepares a drawing for rendering from memory, in which libvips has no folder to resolve references against. Rejects content
 * that could make the parser read other files or expand endlessly.
 */
export async function prepareSvg(file: Buffer): Promise<Drawing> {
  const bytes = await inflated(file);
  if (bytes.length > maxSvgBytes) {
    throw new EngineError(`The drawing is larger than ${maxSvgBytes / 1024 / 1024} MB when decompressed.`);
  }
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = bytes.toString(isWide ? 'utf16le' : 'utf8');
  if (/<!ENTITY/i.test(text)) {
    throw new EngineError(
      'The drawing declares XML entities, which are not allowed. Save it as plain SVG without a DOCTYPE.',
    );
  }
  const drawn = inPixels(bytes, isWide);
  const { width, height } = await sharp(drawn, { density: naturalDensity, limitInputPixels: false }).metadata();
  if (width * height > maxPixels) {
    throw new EngineError(
      `The drawing has more than ${maxPixels / 1_000_000} million pixels. Reduce its width and height.`,
    );
  }
  return { bytes: drawn, width, height, hasEmoji: /<text\b/i.test(text) && emoji.test(text) };
}

/** CSS pixels per unit of length. */
const pixelsPerUnit: Record<string, number> = {
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
  pt: 96 / 72,
  pc: 16,
};
const length = String.raw`([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(in|cm|mm|q|pt|pc)`;
const inAttribute = new RegExp(String.raw`(\s(?!id\b|class\b|data-)[\w:-]+\s*=\s*["']\s*)${length}(?=\s*["'])`, 'gi');
const inStyle = new RegExp(String.raw`([:\s,(])${length}(?=[\s;"',)!}]|$)`, 'gi');

/**
 * Rewrites lengths such as 50mm as pixels at 96 per inch, as browsers do. libvips assumes 72, and more when it renders a
 * larger image.
 */
function inPixels(bytes: Buffer, isWide: boolean): Buffer {
  // Names and numbers are ASCII in all byte-oriented encodings of XML.
  const encoding = isWide ? 'utf16le' : 'latin1';
  const text = bytes.toString(encoding);
  const replace = (_match: string, before: string, value: string, unit: string) =>
    `${before}${Number((Number(value) * (pixelsPerUnit[unit.toLowerCase()] ?? 1)).toFixed(6))}px`;
  const rewritten = text
    .replace(/<[a-z][^<>]*>/gi, (tag) =>
      tag
        .replace(inAttribute, replace)
        .replace(
          /(\sstyle\s*=\s*)("[^"]*"|'[^']*')/gi,
          (_match, name: string, style: string) => `${name}${style.replace(inStyle, replace)}`,
        ),
    )
    .replace(/<style\b[^>]*>[\s\S]*?<\/style>/gi, (style) => style.replace(inStyle, replace));
  return rewritten === text ? bytes : Buffer.from(rewritten, encoding);
}

async function inflated(file: Buffer): Promise<Buffer> {
  if (file[0] !== 0x1f || file[1] !== 0x8b) return file;
  try {
    return await inflate(file, { maxOutputLength: maxSvgBytes });
  } catch (error) {
    if (error instanceof RangeError) {
      throw new EngineError(`The drawing is larger than ${maxSvgBytes / 1024 / 1024} MB when decompressed.`);
    }
    throw error;
  }
}
