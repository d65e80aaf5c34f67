import { safeName } from '../../../shared/files/names.ts';
import { attachmentOf, bodyOf, charsetOf, type Properties, tags, textProperty, timeProperty } from './mapi.ts';
import { type Attachment, emptyMessage, type Message } from './message.ts';

const signature = 0x223e9f78;
const maxAttachments = 500;
const maxProperties = 5_000;
const messageLevel = 1;
/** Messages in messages. Deeper ones have no content. */
const maxNesting = 5;
const attributes = {
  subject: 0x8004,
  body: 0x800c,
  attachData: 0x800f,
  attachName: 0x8010,
  attachStart: 0x9002,
  messageProperties: 0x9003,
  attachProperties: 0x9005,
  codePage: 0x9007,
};
/** Bytes of the types of properties with a fixed size. */
const sizes: Record<number, number> = { 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 10: 4, 11: 2, 20: 8, 64: 8, 72: 16 };

/** Types of texts that are not Unicode, of numbers and of objects. */
const [text8, long, object] = [0x1e, 3, 0x0d];

/** Reads the winmail.dat of Outlook (MS-OXTNEF): the body and the attachments in it. Returns undefined for any other file. */
export async function readTnef(bytes: Buffer, depth = 0): Promise<Message | undefined> {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== signature) return undefined;
  const message = emptyMessage();
  /** Those that programs before Outlook write as attributes of their own. */
  const older: Properties = new Map();
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
    if (level === messageLevel) {
      if (attribute === attributes.messageProperties) own = readProperties(content);
      else if (attribute === attributes.subject) older.set(tags.subject, { type: text8, bytes: content });
      else if (attribute === attributes.body) older.set(tags.body, { type: text8, bytes: content });
      else if (attribute === attributes.codePage)
        older.set(tags.messageCodePage, { type: long, bytes: content.subarray(0, 4) });
    } else if (attribute === attributes.attachStart && files.length < maxAttachments)
      files.push({ properties: new Map() });
    else if (file && attribute === attributes.attachData) file.data = content;
    else if (file && attribute === attributes.attachName) file.name = content;
    else if (file && attribute === attributes.attachProperties) file.properties = readProperties(content);
  }
  const properties: Properties = new Map([...older, ...own]);
  const charset = charsetOf(properties);
  await readHeader(properties, charset, message);
  message.body = await bodyOf(properties);
  for (const { name, data, properties: given } of files) {
    if (name && !given.has(tags.fileName)) given.set(tags.fileName, { type: text8, bytes: name });
    const inner = given.get(tags.data);
    // An object begins with its class, of 16 bytes.
    const bytesOfObject = inner?.type === object ? inner.bytes.subarray(16) : inner?.bytes;
    const nested = depth < maxNesting && bytesOfObject ? await readTnef(bytesOfObject, depth + 1) : undefined;
    if (nested) {
      message.attachments.push(nestedMessage(nested));
      continue;
    }
    const bytesOfFile = data ?? bytesOfObject ?? Buffer.alloc(0);
    const { attachment, keys } = await attachmentOf(given, bytesOfFile, charset);
    for (const key of keys) message.pictures.set(key, { bytes: bytesOfFile, attachment });
    message.attachments.push(attachment);
  }
  return message;
}

/** Reads what a message in a message needs: its own header has no other form. */
async function readHeader(properties: Properties, charset: string, message: Message): Promise<void> {
  const text = async (tag: number) =>
    ((await textProperty(properties, tag, charset)) ?? '')
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, 2_000);
  message.subject = await text(tags.subject);
  const [name, address, to, cc] = await Promise.all(
    [tags.representing, tags.representingSmtp, tags.to, tags.cc].map(text),
  );
  message.from = name && address ? [`${name} <${address}>`] : [name || address].flatMap((each) => each || []);
  message.to = to ? [to] : [];
  message.cc = cc ? [cc] : [];
  const time = timeProperty(properties, tags.submitted) ?? timeProperty(properties, tags.delivered);
  message.date = time === undefined ? undefined : { time, offset: 0 };
}

function nestedMessage(message: Message): Attachment {
  const name = safeName(`${message.subject || 'message'}.msg`);
  return { name, mediaType: 'application/vnd.ms-outlook', bytes: Buffer.alloc(0), isInline: false, message };
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
