import { toScreenTone } from '../codecs/linear-light.ts';

/** LibRaw applies the transfer curve of television (BT.709), but viewers expect that of screens (sRGB). */
const table = Uint8Array.from({ length: 256 }, (_, value) =>
  Math.round(255 * toScreenTone(fromTelevision(value / 255))),
);

/** Converts the decoded pixels of a raw file to the curve of screens, in place, because there may be hundreds of millions. */
export function correctTones(pixels: Uint8Array): void {
  for (let at = 0; at < pixels.length; at++) pixels[at] = table[pixels[at] ?? 0] ?? 0;
}

function fromTelevision(value: number): number {
  return value < 0.081_243 ? value / 4.5 : ((value + 0.099_297) / 1.099_297) ** (1 / 0.45);
}
