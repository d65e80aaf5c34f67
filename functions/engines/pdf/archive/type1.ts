import { standardEncoding } from './encodings.ts';
import { NotApproved } from './problems.ts';

/** A Type 1 font program, as far as its glyphs and widths go. */
export class Type1 {
  /** The names of its own encoding by code. */
  readonly encoding: (string | undefined)[];
  readonly #widths = new Map<string, number>();

  constructor(data: Buffer, clearBytes: number) {
    const clear = data.toString('latin1', 0, clearBytes);
    if (!clear.startsWith('%!') || !/\/FontMatrix\s*\[\s*0?\.001\s+0\s+0\s+0?\.001\s+0\s+0\s*\]/.test(clear))
      throw new NotApproved('unknown kind of Type 1 font program');
    this.encoding = /\/Encoding\s+StandardEncoding\s+def/.test(clear) ? standardEncoding : [];
    if (this.encoding !== standardEncoding)
      for (const [, code, name] of clear.matchAll(/\bdup\s+(\d{1,3})\s*\/(\S+)\s+put\b/g))
        this.encoding[Number(code)] = name === '.notdef' ? undefined : name;
    const secret = decrypt(data.subarray(clearBytes), 55_665, 4);
    const text = secret.toString('latin1');
    const skipped = Number(/\/lenIV\s+(\d+)/.exec(text)?.[1] ?? 4);
    const start = text.indexOf('/CharStrings');
    if (start < 0) throw new NotApproved('Type 1 font program without glyphs');
    const entry = /\/(\S+)\s+(\d+)\s+(?:RD|-\|)\s/y;
    const next = /\/\S+\s+\d+\s+(?:RD|-\|)\s/g;
    next.lastIndex = start + 1;
    for (let found = next.exec(text); found; found = next.exec(text)) {
      entry.lastIndex = found.index;
      const [all = '', name = '', length = ''] = entry.exec(text) ?? [];
      const at = found.index + all.length;
      this.#widths.set(name, widthOf(decrypt(secret.subarray(at, at + Number(length)), 4_330, skipped)));
      next.lastIndex = at + Number(length);
    }
  }

  get names(): string[] {
    return [...this.#widths.keys()];
  }

  width(name: string): number | undefined {
    return this.#widths.get(name);
  }
}

function decrypt(data: Buffer, key: number, skipped: number): Buffer {
  const plain = Buffer.alloc(data.length);
  let state = key;
  for (const [index, byte] of data.entries()) {
    plain[index] = byte ^ (state >> 8);
    state = ((byte + state) * 52_845 + 22_719) & 0xffff;
  }
  return plain.subarray(skipped);
}

/** Returns the width that a charstring begins with. */
function widthOf(code: Buffer): number {
  const stack: number[] = [];
  for (let at = 0; at < code.length; ) {
    const byte = code[at++] ?? 0;
    if (byte >= 32 && byte <= 246) stack.push(byte - 139);
    else if (byte >= 247 && byte <= 250) stack.push((byte - 247) * 256 + (code[at++] ?? 0) + 108);
    else if (byte >= 251 && byte <= 254) stack.push(-(byte - 251) * 256 - (code[at++] ?? 0) - 108);
    else if (byte === 255 && at + 4 <= code.length) {
      stack.push(code.readInt32BE(at));
      at += 4;
    } else if (byte === 12 && code[at] === 12 && stack.length >= 2) {
      at += 1;
      const divisor = stack.pop() ?? 1;
      stack.push((stack.pop() ?? 0) / divisor);
    } else if (byte === 13) return stack[1] ?? 0;
    else break;
  }
  throw new NotApproved('Type 1 font program with an unknown glyph');
}
