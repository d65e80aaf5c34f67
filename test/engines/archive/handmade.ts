import { crc32, deflateRawSync } from 'node:zlib';

/** Archives written byte by byte: for formats that no free program packs, and for what no honest program would pack. */

export interface Member {
  name: string;
  data?: Uint8Array | string;
}

const bytesOf = ({ data = '' }: Member) => Buffer.from(data);

/** Writes a RAR 5 archive with its members stored, which may claim to be encrypted or one part of several. */
export function rar5(members: Member[], claim: { isEncrypted?: boolean; isVolume?: boolean } = {}): Buffer {
  const block = (fields: Buffer, data = Buffer.alloc(0)) => {
    const sized = Buffer.concat([vint(fields.length), fields]);
    return Buffer.concat([uint32(crc32(sized)), sized, data]);
  };
  // A record of type 1: version, flags, count, salt and initialisation vector.
  const encryption = Buffer.concat([vint(36), vint(1), Buffer.alloc(35, 1)]);
  const files = members.map((member) => {
    const data = bytesOf(member);
    const name = Buffer.from(member.name);
    const fields = [
      ...(claim.isEncrypted ? [2, 0x03, encryption.length, data.length] : [2, 0x02, data.length]).map(vint),
      ...[0x04, data.length, 0o100644].map(vint),
      uint32(crc32(data)),
      ...[0, 1, name.length].map(vint),
      name,
      ...(claim.isEncrypted ? [encryption] : []),
    ];
    return block(Buffer.concat(fields), claim.isEncrypted || claim.isVolume ? data.subarray(1) : data);
  });
  const main = block(Buffer.concat([1, 0, claim.isVolume ? 1 : 0].map(vint)));
  const end = block(Buffer.concat([5, 0, 0].map(vint)));
  return Buffer.concat([Buffer.from('Rar!\x1a\x07\x01\x00', 'latin1'), main, ...files, end]);
}

/** Writes an LZH archive with level 1 headers and its members stored. */
export function lzh(members: Member[]): Buffer {
  const entries = members.map((member) => {
    const data = bytesOf(member);
    const name = Buffer.from(member.name);
    const fields = Buffer.concat([
      Buffer.from('-lh0-'),
      uint32(data.length),
      uint32(data.length),
      uint32(0x5a210000),
      Buffer.from([0x20, 1, name.length]),
      name,
      uint16(crc16(data)),
      Buffer.from('U'),
      uint16(0),
    ]);
    const sum = fields.reduce((total, byte) => (total + byte) & 0xff, 0);
    return Buffer.concat([Buffer.from([fields.length, sum]), fields, data]);
  });
  return Buffer.concat([...entries, Buffer.from([0])]);
}

export interface TarMember extends Member {
  /** `0` a file, `1` a hard link, `2` a symbolic link, `3` a character device, `5` a folder. */
  type?: string;
  link?: string;
  mode?: number;
}

/** Writes a tar with the given names, types and links. */
export function tar(members: TarMember[]): Buffer {
  const blocks = members.flatMap((member) => {
    const data = bytesOf(member);
    const header = Buffer.alloc(512);
    header.write(member.name, 0, 100);
    header.write(`${(member.mode ?? 0o644).toString(8).padStart(7, '0')}\0`, 100);
    header.write('0000000\x000000000\0', 108);
    header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0        ', 136);
    header.write(member.type ?? '0', 156);
    header.write(member.link ?? '', 157, 100);
    header.write('ustar\x0000', 257);
    header.write('0000001\x000000003\0', 329);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export interface ZipMember extends Member {
  /** What the headers claim instead of the data's own size. */
  claimedSize?: number;
  /** Unix mode with its type, in the external attributes. */
  mode?: number;
}

/** Writes a zip with the given names, sizes and modes. */
export function zip(members: ZipMember[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const data = bytesOf(member);
    const packed = deflateRawSync(data);
    const name = Buffer.from(member.name);
    const common = Buffer.concat([
      uint16(0x0800),
      uint16(8),
      uint32(0x5a210000),
      uint32(crc32(data)),
      uint32(packed.length),
      uint32(member.claimedSize ?? data.length),
      uint16(name.length),
      uint16(0),
    ]);
    const local = Buffer.concat([uint32(0x04034b50), uint16(20), common, name, packed]);
    directory.push(
      Buffer.concat([
        ...[uint32(0x02014b50), uint16(0x031e), uint16(20), common],
        ...[uint16(0), uint16(0), uint16(0), uint32(((member.mode ?? 0o100644) << 16) >>> 0), uint32(offset)],
        name,
      ]),
    );
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.concat([
    ...[uint32(0x06054b50), uint32(0), uint16(members.length), uint16(members.length)],
    ...[uint32(central.length), uint32(offset), uint16(0)],
  ]);
  return Buffer.concat([...parts, central, end]);
}

function vint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Buffer.from(bytes);
}

function uint16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16LE(value & 0xffff);
  return buffer;
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value >>> 0);
  return buffer;
}

function crc16(data: Uint8Array): number {
  let crc = 0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}
