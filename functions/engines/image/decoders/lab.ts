import { toScreenTone } from '../codecs/linear-light.ts';
import type { Frame } from '../codecs/magick.ts';

/** How a TIFF codes CIE L*a*b*: a* and b* as signed numbers, or with 128 added as in profiles. */
export type LabCoding = 'cie' | 'icc';

export interface LabPicture {
  /** 16 bits per channel. 8-bit values are in the upper half. */
  pixels: Uint16Array;
  width: number;
  height: number;
  /** A fourth is alpha. */
  channels: 3 | 4;
  coding: LabCoding;
  /** The lower half is significant. */
  isDeep: boolean;
}

/** Converts pixels from CIE L*a*b* to sRGB. */
export function labToScreen({ pixels, width, height, channels, coding, isDeep }: LabPicture): Frame {
  const isSigned = coding === 'cie';
  const brightest = isSigned && isDeep ? 0xffff : 0xff00;
  const data = new Uint8ClampedArray(pixels.length);
  for (let at = 0; at < pixels.length; at += channels) {
    const [lightness, a, b] = [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
    data.set(
      toScreen(
        (lightness / brightest) * 100,
        isSigned ? ((a << 16) >> 16) / 256 : a / 256 - 128,
        isSigned ? ((b << 16) >> 16) / 256 : b / 256 - 128,
      ),
      at,
    );
    if (channels === 4) data[at + 3] = (pixels[at + 3] ?? 0) >> 8;
  }
  return { data: new Uint8Array(data.buffer), width, height, channels };
}

/** D65, the white of screens. The white of the picture is adapted to it. */
const white = { x: 0.95047, z: 1.08883 };

function toScreen(lightness: number, a: number, b: number): [number, number, number] {
  const fy = (lightness + 16) / 116;
  const y = inverse(fy);
  const x = white.x * inverse(fy + a / 500);
  const z = white.z * inverse(fy - b / 200);
  return [
    tone(3.2404542 * x - 1.5371385 * y - 0.4985314 * z),
    tone(-0.969266 * x + 1.8760108 * y + 0.041556 * z),
    tone(0.0556434 * x - 0.2040259 * y + 1.0572252 * z),
  ];
}

function inverse(value: number): number {
  return value > 6 / 29 ? value ** 3 : 3 * (6 / 29) ** 2 * (value - 4 / 29);
}

function tone(linear: number): number {
  return 255 * toScreenTone(linear);
}
