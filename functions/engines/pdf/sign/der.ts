/** Tags of ASN.1 in DER. */
export const tags = { integer: 0x02, octets: 0x04, null: 0x05, oid: 0x06, sequence: 0x30, set: 0x31 } as const;

/** Returns the tag of a constructed value with a number of its own. */
export function tagged(number: number): number {
  return 0xa0 + number;
}

/** Encodes a value in DER. */
export function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const digits = length < 0x80 ? [] : bigEndian(length);
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 + digits.length, ...digits];
  return Buffer.concat([Buffer.from(head), content]);
}

export function sequence(...contents: Uint8Array[]): Buffer {
  return der(tags.sequence, ...contents);
}

/** Encodes a set. DER orders its items. */
export function set(...items: Uint8Array[]): Buffer {
  return der(tags.set, ...items.map((item) => Buffer.from(item)).sort(Buffer.compare));
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const septets = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      septets.unshift((left & 0x7f) | 0x80);
    return septets;
  });
  return der(tags.oid, Buffer.from(bytes));
}

function bigEndian(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return bytes;
}
