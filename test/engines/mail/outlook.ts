import { compoundFile } from '../document/old-office.ts';

/** Properties of a storage by tag and type, such as `0037001F`. */
type Values = Record<string, string | number | boolean | Date | Buffer>;

export interface OutlookFile {
  values: Values;
  recipients?: Values[];
  attachments?: (Values | OutlookFile)[];
}

/** Writes a message as Outlook does (MS-OXMSG). Streams are filled with zeros up to 4096 bytes. */
export function outlookFile(file: OutlookFile): Buffer {
  const streams: Record<string, Buffer> = {};
  addMessage(file, '', 32, streams);
  return compoundFile(streams);
}

function addMessage(
  { values, recipients = [], attachments = [] }: OutlookFile,
  at: string,
  header: number,
  streams: Record<string, Buffer>,
) {
  addValues(values, at, header, streams);
  for (const [index, recipient] of recipients.entries())
    addValues(recipient, `${at}__recip_version1.0_#${number(index)}/`, 8, streams);
  for (const [index, attachment] of attachments.entries()) {
    const storage = `${at}__attach_version1.0_#${number(index)}/`;
    if (isFile(attachment)) {
      addValues({ '37050003': 5 }, storage, 8, streams);
      addMessage(attachment, `${storage}__substg1.0_3701000D/`, 24, streams);
    } else addValues(attachment, storage, 8, streams);
  }
}

const isFile = (attachment: Values | OutlookFile): attachment is OutlookFile =>
  typeof attachment.values === 'object' && !Buffer.isBuffer(attachment.values);

function addValues(values: Values, at: string, header: number, streams: Record<string, Buffer>): void {
  const fixed: Buffer[] = [Buffer.alloc(header)];
  for (const [tag, value] of Object.entries(values)) {
    const property = Buffer.alloc(16);
    property.writeUInt32LE(Number.parseInt(tag, 16), 0);
    if (typeof value === 'number') property.writeInt32LE(value, 8);
    else if (typeof value === 'boolean') property.writeInt32LE(Number(value), 8);
    else if (value instanceof Date)
      property.writeBigUInt64LE(BigInt(value.getTime() + 11_644_473_600_000) * 10_000n, 8);
    else streams[`${at}__substg1.0_${tag}`] = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf16le');
    fixed.push(property);
  }
  streams[`${at}__properties_version1.0`] = Buffer.concat(fixed);
}

const number = (index: number) => index.toString(16).toUpperCase().padStart(8, '0');

/** Packs rich text without compressing it (MS-OXRTFCP). */
export function packedRtf(text: string): Buffer {
  const body = Buffer.from(text, 'latin1');
  const header = Buffer.alloc(16);
  header.writeUInt32LE(body.length + 12, 0);
  header.writeUInt32LE(body.length, 4);
  header.write('MELA', 8, 'latin1');
  return Buffer.concat([header, body]);
}

export interface TnefFile {
  /** Properties by tag and type, such as `0037001F`. */
  values?: Values;
  /** Attributes by level and identifier, such as `1 0x8004`: those of programs before Outlook. */
  attributes?: [level: number, id: number, content: Buffer][];
  attachments?: { title: string; data?: Buffer; values?: Values; message?: TnefFile }[];
}

/** Writes a winmail.dat as Outlook does (MS-OXTNEF). */
export function tnefFile({ values = {}, attributes = [], attachments = [] }: TnefFile): Buffer {
  const files = attachments.flatMap(({ title, data, values: own = {}, message }) => [
    attribute(2, 0x6_9002, Buffer.alloc(14)),
    attribute(2, 0x1_8010, Buffer.from(`${title}\0`, 'latin1')),
    ...(data ? [attribute(2, 0x6_800f, data)] : []),
    attribute(2, 0x6_9005, propertyList({ ...own, ...(message ? { '3701000D': objectOf(tnefFile(message)) } : {}) })),
  ]);
  return Buffer.concat([
    Buffer.from('789f3e220100', 'hex'),
    attribute(1, 0x8_9006, Buffer.from('00000100', 'hex')),
    ...attributes.map(([level, id, content]) => attribute(level, id, content)),
    ...(Object.keys(values).length > 0 ? [attribute(1, 0x6_9003, propertyList(values))] : []),
    ...files,
  ]);
}

/** The class of a message in a message, and its file. */
function objectOf(file: Buffer): Buffer {
  return Buffer.concat([Buffer.from('0703020000000000c000000000000046', 'hex'), file]);
}

function attribute(level: number, id: number, content: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(level, 0);
  head.writeUInt32LE(id, 1);
  head.writeUInt32LE(content.length, 5);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16LE(content.reduce((sum, byte) => (sum + byte) & 0xffff, 0));
  return Buffer.concat([head, content, checksum]);
}

function propertyList(values: Values): Buffer {
  const long = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    return bytes;
  };
  const padded = (bytes: Buffer) => Buffer.concat([long(bytes.length), bytes, Buffer.alloc(-bytes.length & 3)]);
  // A named property precedes the others, as one of Outlook's own usually does.
  const named = Buffer.concat([Buffer.from('03000080', 'hex'), Buffer.alloc(16), long(0), long(0x8554), long(7)]);
  const written = Object.entries(values).map(([tag, value]) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(Number.parseInt(tag.slice(4), 16), 0);
    head.writeUInt16LE(Number.parseInt(tag.slice(0, 4), 16), 2);
    if (typeof value === 'number' || typeof value === 'boolean') return Buffer.concat([head, long(Number(value))]);
    if (value instanceof Date) throw new Error('Dates are not written.');
    return Buffer.concat([
      head,
      long(1),
      padded(Buffer.isBuffer(value) ? value : Buffer.from(`${value}\0`, 'utf16le')),
    ]);
  });
  return Buffer.concat([long(written.length + 1), named, ...written]);
}
