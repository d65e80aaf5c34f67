/** Packs bytes as the older icons do: runs of 3 to 130 of one value, and up to 128 literal bytes. */
function pack(bytes: Uint8Array): Buffer {
  const packed: number[] = [];
  let literal: number[] = [];
  const flush = () => {
    if (literal.length > 0) packed.push(literal.length - 1, ...literal);
    literal = [];
  };
  for (let at = 0; at < bytes.length; ) {
    let run = 1;
    while (run < 130 && at + run < bytes.length && bytes[at + run] === bytes[at]) run += 1;
    if (run >= 3) {
      flush();
      packed.push(run + 125, bytes[at] ?? 0);
      at += run;
    } else {
      literal.push(bytes[at] ?? 0);
      at += 1;
      if (literal.length === 128) flush();
    }
  }
  flush();
  return Buffer.from(packed);
}

const channelOf = (rgba: Uint8Array, channel: number) => rgba.filter((_, at) => at % 4 === channel);

/** Packs red, green and blue; the alpha goes into a part of its own. */
export function packedColours(rgba: Uint8Array): { colours: Buffer; mask: Buffer } {
  return {
    colours: Buffer.concat([0, 1, 2].map((channel) => pack(channelOf(rgba, channel)))),
    mask: Buffer.from(channelOf(rgba, 3)),
  };
}

/** Packs alpha, red, green and blue behind a mark. */
export function packedArgb(rgba: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('ARGB'), ...[3, 0, 1, 2].map((channel) => pack(channelOf(rgba, channel)))]);
}

/** Joins parts to an icon file. */
export function icnsFile(parts: [type: string, data: Buffer][]): Buffer {
  const body = Buffer.concat(
    parts.flatMap(([type, data]) => {
      const head = Buffer.alloc(8);
      head.write(type, 'latin1');
      head.writeUInt32BE(data.length + 8, 4);
      return [head, data];
    }),
  );
  const head = Buffer.from('icns\0\0\0\0', 'latin1');
  head.writeUInt32BE(body.length + 8, 4);
  return Buffer.concat([head, body]);
}
