import type { Canary } from './hostile-documents.ts';

/** An SVG that names pictures, texts and addresses beyond itself. */
export function reachingSvg({ text, picture, url }: Canary): string {
  const targets = [`file://${picture}`, `${url}/svg.png`, `file://${text}`];
  const images = targets.map(
    (target) =>
      `<image xlink:href="${target}" href="${target}" width="100" height="100"/><use xlink:href="${target}#a"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="200">${images.join('')}</svg>`;
}

/** Writes such an SVG as data in an SVG, under the name of a picture that names nothing. */
export function nestedSvg(canary: Canary): string {
  const inner = Buffer.from(reachingSvg(canary)).toString('base64');
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="200"><image xlink:href="data:image/png;base64,${inner}" width="200" height="200"/></svg>`;
}

const uint32 = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, index * 4);
  return bytes;
};
const float32 = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes;
};
const padded = (bytes: Buffer, to = 4) => Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)]);

function plusRecord(type: number, flags: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(flags, 2);
  head.writeUInt32LE(12 + data.length, 4);
  head.writeUInt32LE(data.length, 8);
  return Buffer.concat([head, data]);
}

/** Writes an EMF whose EMF+ image, said to be a compressed bitmap, is anything at all. */
export function emfAround(picture: Buffer): Buffer {
  const image = padded(Buffer.concat([uint32(0xdbc01002, 1, 0, 0, 0, 0, 1), picture]));
  const plus = Buffer.concat([
    Buffer.from('EMF+'),
    plusRecord(0x4001, 1, uint32(0xdbc01002, 0, 96, 96)),
    plusRecord(0x4008, 0x0501, image),
    plusRecord(0x401a, 0x0001, Buffer.concat([uint32(0, 2), float32(0, 0, 200, 200), float32(0, 0, 200, 200)])),
    plusRecord(0x4002, 0, Buffer.alloc(0)),
  ]);
  const comment = Buffer.concat([uint32(70, 12 + padded(plus).length, plus.length), padded(plus)]);
  const end = uint32(14, 20, 0, 16, 20);
  const header = Buffer.alloc(108);
  uint32(1, 108, 0, 0, 200, 200, 0, 0, 5300, 5300).copy(header);
  header.write(' EMF', 40, 'latin1');
  uint32(0x10000, 108 + comment.length + end.length, 3, 1, 0, 0, 0, 1000, 1000, 265, 265).copy(header, 44);
  return Buffer.concat([header, comment, end]);
}
