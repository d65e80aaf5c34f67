import { attachmentOf, bodyOf, charsetOf, type Properties, tags } from './mapi.ts';
import { emptyMessage, type Message } from './message.ts';

const signature = 0x223e9f78;
const maxAttachments = 500;
const maxProperties = 5_000;
const messageLevel = 1;
const attributes = {
  attachData: 0x800f,
  attachName: 0x8010,
  attachStart: 0x9002,
  messageProperties: 0x9003,
  attachProperties: 0x9005,
};
/** Bytes of the types of properties with a fixed size. */
const sizes: Record<number, number> = { 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 10: 4, 11: 2, 20: 8, 64: 8, 72: 16 };

/** Reads the winmail.dat of Outlook (MS-OXTNEF): the body and the attachments in it. Returns undefined for any other file. */
export async function readTnef(bytes: Buffer): Promise<Pick<Message, 'attachments' | 'body' | 'pictures'> | undefined> {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== signature) return undefined;
  const found = emptyMessage();
  let own: Properties = new Map();
  const files: { name?: Buffer; data?: Buffer; properties: Properties }[] = [];
  for (let at = 6; at + 9 <= bytes.length; ) {
    const level = bytes[at];
    const attribute = bytes.readUInt16LE(at + 1);
    const length = bytes.readUInt32LE(at + 5);
    const content = bytes.subarray(at + 9, at + 9 + length);
    // A checksum of two bytes follows.
    at += 9 + length + 2;
    const file = files.at(-1);
    if (level === messageLevel && attribute === attributes.messageProperties) own = readProperties(content);
    else if (attribute === attributes.attachStart && files.length < maxAttachments)
      files.push({ properties: new Map() });
    else if (file && attribute === attributes.attachData) file.data = content;
    else if (file && attribute === attributes.attachName) file.name = content;
    else if (file && attribute === attributes.attachProperties) file.properties = readProperties(content);
  }
  found.body = await bodyOf(own);
  const charset = charsetOf(own);
  for (const { name, data, properties } of files) {
    if (name && !properties.has(tags.fileName)) properties.set(tags.fileName, { type: 0x1e, bytes: name });
    const inner = properties.get(tags.data);
    // An object begins with its class, of 16 bytes.
    const bytesOfFile = data ?? (inner?.type === 0x0d ? inner.bytes.subarray(16) : inner?.bytes) ?? Buffer.alloc(0);
    const { attachment, keys } = await attachmentOf(properties, bytesOfFile, charset);
    for (const key of keys) found.pictures.set(key, { bytes: bytesOfFile, attachment });
    found.attachments.push(attachment);
  }
  return found;
}

/** Reads a list of properties. Stops at the first that is damaged. */
function readProperties(bytes: Buffer): Properties {
  const found: Properties = new Map();
  let at = 4;
  const need = (count: number) => {
    if (count < 0 || at + count > bytes.length) throw new RangeError();
    at += count;
    return at - count;
  };
  const number = () => bytes.readUInt32LE(need(4));
  const padded = (length: number) => bytes.subarray(need(length), need((4 - (length % 4)) % 4));
  try {
    const count = Math.min(bytes.readUInt32LE(0), maxProperties);
    for (let index = 0; index < count; index++) {
      const type = bytes.readUInt16LE(need(2));
      const tag = bytes.readUInt16LE(need(2));
      if (tag >= 0x8000) {
        need(16);
        if (number() === 0) need(4);
        else padded(number());
      }
      const plain = type & 0xfff;
      const size = sizes[plain];
      const isList = (type & 0x1000) !== 0;
      const values = isList || size === undefined ? number() : 1;
      if (values > maxProperties) break;
      for (let value = 0; value < values; value++) {
        const length = size ?? number();
        const content = padded(length);
        if (value === 0) found.set(tag, { type: plain, bytes: content.subarray(0, length) });
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return found;
}
