import { readFile } from 'node:fs/promises';

/** Makes a font that no machine has: DejaVu under another name. */
export async function renamedFont(family: string): Promise<Buffer> {
  const font = await readFile('/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf');
  const names: [id: number, text: string][] = [
    [1, family],
    [2, 'Regular'],
    [3, `${family} 1`],
    [4, family],
    [6, family.replaceAll(' ', '')],
  ];
  const strings = names.map(([, text]) => Buffer.from(text, 'utf16le').swap16());
  const header = Buffer.alloc(6 + names.length * 12);
  header.writeUInt16BE(names.length, 2);
  header.writeUInt16BE(header.length, 4);
  let offset = 0;
  for (const [index, [id]] of names.entries()) {
    const length = strings[index]?.length ?? 0;
    // Windows, Unicode, American English.
    for (const [place, value] of [3, 1, 0x409, id, length, offset].entries())
      header.writeUInt16BE(value, 6 + index * 12 + place * 2);
    offset += length;
  }
  const table = Buffer.concat([header, ...strings]);
  const tables = font.readUInt16BE(4);
  for (let at = 12; at < 12 + tables * 16; at += 16) {
    if (font.toString('latin1', at, at + 4) !== 'name') continue;
    font.writeUInt32BE(font.length, at + 8);
    font.writeUInt32BE(table.length, at + 12);
  }
  return Buffer.concat([font, table]);
}
