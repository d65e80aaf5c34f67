import { safeName } from '../../../shared/files/names.ts';
import { CompoundFile, type Entry } from '../runtime/compound-file.ts';
import { EngineError } from '../runtime/engine.ts';
import { formatAddress, type Nesting, readEml, readHeaders } from './eml.ts';
import {
  attachmentOf,
  bodyOf,
  charsetOf,
  numberProperty,
  type Properties,
  tags,
  textProperty,
  timeProperty,
} from './mapi.ts';
import { type Attachment, emptyMessage, type Message } from './message.ts';
import { splitHeaders } from './mime.ts';

const maxAttachments = 500;
const maxRecipients = 500;
const maxNesting = 5;
/** Messages in a message, at all depths. */
const maxMessages = 200;
const propertyStream = '__properties_version1.0';
const embeddedMessage = 5;

/** A compound file, and how many bytes may still be read: streams may share their sectors. */
interface Source {
  file: CompoundFile;
  left: number;
  messages: number;
}

/** Reads a message of Outlook (MS-OXMSG). */
export async function readMsg(bytes: Buffer): Promise<Message> {
  const file = CompoundFile.read(bytes);
  if (!file?.has(propertyStream))
    throw new EngineError('The file could not be read as a message of Outlook: it is damaged or of another format.');
  return readStorage({ file, left: 2 * bytes.length + 1024 ** 2, messages: 0 }, file.members(), 32, 0);
}

async function readStorage(
  source: Source,
  members: Map<string, Entry>,
  headerBytes: number,
  depth: number,
): Promise<Message> {
  const properties = readProperties(source, members, headerBytes);
  const charset = charsetOf(properties);
  const text = async (tag: number) =>
    ((await textProperty(properties, tag, charset)) ?? '').replaceAll(/\p{Cc}+/gu, ' ').trim();
  const message = emptyMessage();
  const headers = await textProperty(properties, tags.headers, charset);
  if (headers) readHeaders(splitHeaders(Buffer.from(headers)).headers, message);
  await addPeople(source, members, properties, charset, message);
  const subject = await text(tags.subject);
  if (subject) message.subject = subject.slice(0, 2_000);
  const time = timeProperty(properties, tags.submitted) ?? timeProperty(properties, tags.delivered);
  if (!message.date && time !== undefined) message.date = { time, offset: 0 };
  message.id ??= (await text(tags.messageId)).replaceAll(/^<|>$/g, '') || undefined;
  if (message.references.length === 0) {
    const named = `${await text(tags.references)} ${await text(tags.inReplyTo)}`;
    message.references = [...named.matchAll(/<([^<>\s]{1,500})>/g)].slice(-100).map(([, id = '']) => id);
  }
  message.body = await bodyOf(properties);
  await addAttachments(source, members, charset, message, depth);
  await openSecured(await text(tags.messageClass), message);
  return message;
}

/** Adds the sender and the recipients, unless the headers of the Internet name them. */
async function addPeople(
  source: Source,
  members: Map<string, Entry>,
  properties: Properties,
  charset: string,
  message: Message,
): Promise<void> {
  const person = async (from: Properties, name: number, ...addresses: number[]) => {
    const label = (await textProperty(from, name, charset)) ?? '';
    const known = await Promise.all(addresses.map((tag) => textProperty(from, tag, charset)));
    // Addresses of Exchange mean nothing outside of it.
    return formatAddress(label.trim(), known.find((address) => address?.includes('@'))?.trim() ?? '');
  };
  if (message.from.length === 0) {
    const author = await person(properties, tags.representing, tags.representingSmtp, tags.representingAddress);
    const sender = await person(properties, tags.sender, tags.senderSmtp, tags.senderAddress);
    message.from = author.length > 0 ? author : sender;
  }
  if (message.to.length + message.cc.length + message.bcc.length > 0) return;
  const lists = [message.to, message.to, message.cc, message.bcc];
  const recipients = [...members].filter(([name]) => name.startsWith('__recip_version1.0_')).sort(byName);
  for (const [, entry] of recipients.slice(0, maxRecipients)) {
    const recipient = readProperties(source, source.file.members(entry), 8);
    const kind = (numberProperty(recipient, tags.recipientType) ?? 1) & 3;
    lists[kind]?.push(...(await person(recipient, tags.displayName, tags.smtp, tags.address)));
  }
}

async function addAttachments(
  source: Source,
  members: Map<string, Entry>,
  charset: string,
  message: Message,
  depth: number,
): Promise<void> {
  const storages = [...members].filter(([name]) => name.startsWith('__attach_version1.0_')).sort(byName);
  for (const [, entry] of storages.slice(0, maxAttachments)) {
    const inside = source.file.members(entry);
    const properties = readProperties(source, inside, 8);
    const nested = inside.get('__substg1.0_3701000D');
    if (numberProperty(properties, tags.method) === embeddedMessage && nested?.isStorage) {
      message.attachments.push(await nestedMessage(source, nested, depth));
      continue;
    }
    const bytes = properties.get(tags.data)?.bytes ?? Buffer.alloc(0);
    const { attachment, keys } = await attachmentOf(properties, bytes, charset);
    if (!properties.has(tags.data)) attachment.missing = 'it is stored elsewhere or in a form of its own program';
    for (const key of keys) message.pictures.set(key, { bytes, attachment });
    message.attachments.push(attachment);
  }
}

async function nestedMessage(source: Source, entry: Entry, depth: number): Promise<Attachment> {
  const file = { mediaType: 'application/vnd.ms-outlook', bytes: Buffer.alloc(0), isInline: false };
  source.messages += 1;
  if (depth >= maxNesting || source.messages > maxMessages)
    return { ...file, name: 'message.msg', missing: 'it is nested too deeply' };
  const nested = await readStorage(source, source.file.members(entry), 24, depth + 1);
  return { ...file, name: safeName(`${nested.subject || 'message'}.msg`), message: nested };
}

/** Replaces the attachment in which Outlook keeps a signed message by its content. */
async function openSecured(messageClass: string, message: Message): Promise<void> {
  const [only] = message.attachments;
  if (!/^IPM\.Note\.(?:Secure|SMIME)/i.test(messageClass) || !only || message.attachments.length > 1) return;
  const type = only.mediaType.startsWith('multipart/') ? '' : 'Content-Type: application/pkcs7-mime\r\n\r\n';
  const nesting: Nesting = { depth: 0, count: 0 };
  const inner = await readEml(Buffer.concat([Buffer.from(type), only.bytes]), nesting);
  message.notes.push(...inner.notes);
  if (inner.body.length === 0) return;
  message.body = inner.body;
  message.attachments = inner.attachments;
  message.pictures = inner.pictures;
}

/** Reads the properties of a storage: small ones are in one stream, others in streams of their own. */
function readProperties(source: Source, members: Map<string, Entry>, headerBytes: number): Properties {
  const found: Properties = new Map();
  const fixed = members.get(propertyStream);
  const bytes = fixed && !fixed.isStorage ? take(source, fixed) : Buffer.alloc(0);
  for (let at = headerBytes; at + 16 <= bytes.length; at += 16)
    found.set(bytes.readUInt16LE(at + 2), { type: bytes.readUInt16LE(at), bytes: bytes.subarray(at + 8, at + 16) });
  const isVariable = (type: number) => [0x0d, 0x1e, 0x1f, 0x102].includes(type);
  // Of a variable property, the list holds only the size.
  for (const [tag, { type }] of found) if (isVariable(type)) found.delete(tag);
  for (const [name, entry] of members) {
    const [, tag = '', type = ''] = /^__substg1\.0_([\dA-F]{4})([\dA-F]{4})$/i.exec(name) ?? [];
    if (tag !== '' && !entry.isStorage)
      found.set(Number.parseInt(tag, 16), { type: Number.parseInt(type, 16), bytes: take(source, entry) });
  }
  return found;
}

function take(source: Source, entry: Entry): Buffer {
  const bytes = source.file.read(entry);
  source.left -= bytes.length;
  if (source.left < 0) throw new EngineError('The message could not be read: its parts are larger than the file.');
  return bytes;
}

const byName = ([one]: [string, Entry], [other]: [string, Entry]) => (one < other ? -1 : 1);
