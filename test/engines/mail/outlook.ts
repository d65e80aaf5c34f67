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
