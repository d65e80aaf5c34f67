import { addressParser } from 'postal-mime';
import { safeName } from '../../../shared/files/names.ts';
import { EngineError } from '../runtime/engine.ts';
import { openArmor, pgpNotes } from './armor.ts';
import { describeCalendar } from './calendar.ts';
import { decodeDeclared } from './charsets.ts';
import { type Attachment, type Block, emptyMessage, type Message, parseDate } from './message.ts';
import { contentOf, decodeHeader, first, type Part, parsePart } from './mime.ts';
import { openSmime } from './signed.ts';
import { readTnef } from './tnef.ts';

const maxAddresses = 500;
/** Messages in messages. Deeper ones are listed as files. */
const maxNesting = 5;
/** Messages in a message, at all depths. */
const maxNested = 200;

const smimeNotes = {
  signed: 'Signed with S/MIME. The signature was not verified.',
  signature: 'The file of S/MIME has certificates or a signature, and no content.',
  encrypted: 'Encrypted with S/MIME. The content cannot be shown without the key of a recipient.',
  unknown: 'The content is protected with S/MIME in a form that could not be read.',
};

/** How deep a message is in others, and how many of them there are. */
export interface Nesting {
  depth: number;
  count: number;
}

/** Reads a message in the format of the Internet (RFC 5322, MIME). */
export async function readEml(bytes: Buffer, nesting: Nesting = { depth: 0, count: 0 }): Promise<Message> {
  const root = parsePart(bytes);
  const message = emptyMessage();
  readHeaders(root.headers, message);
  await collect(root, message, nesting);
  return message;
}

/** Throws unless bytes begin like a message. */
export function checkIsMessage(bytes: Buffer): void {
  const { headers } = parsePart(bytes.subarray(0, 262_144));
  const known = [
    'from',
    'to',
    'subject',
    'date',
    'message-id',
    'received',
    'mime-version',
    'content-type',
    'return-path',
  ];
  if (!known.some((name) => headers.has(name)))
    throw new EngineError('The file could not be read as a message: it has no headers such as From, Date or Subject.');
}

/** Reads the headers of a message. */
export function readHeaders(headers: Part['headers'], message: Message): void {
  message.from = addressesOf(headers, 'from');
  message.sender = addressesOf(headers, 'sender').filter((sender) => !message.from.includes(sender));
  message.to = addressesOf(headers, 'to');
  message.cc = addressesOf(headers, 'cc');
  message.bcc = addressesOf(headers, 'bcc');
  message.replyTo = addressesOf(headers, 'reply-to').filter((other) => !message.from.includes(other));
  message.subject = decodeHeader(first(headers, 'subject') ?? '').slice(0, 2_000);
  message.date = parseDate(first(headers, 'date') ?? '');
  message.id = idsIn(first(headers, 'message-id'))[0];
  message.references = [...idsIn(first(headers, 'references')), ...idsIn(first(headers, 'in-reply-to')).slice(0, 1)];
}

function idsIn(text = ''): string[] {
  return [...text.slice(0, 20_000).matchAll(/<([^<>\s]{1,500})>/g)].slice(-100).map(([, id = '']) => id);
}

function addressesOf(headers: Part['headers'], name: string): string[] {
  const text = (headers.get(name) ?? []).join(', ');
  if (text === '') return [];
  const parsed = addressParser(text.slice(0, 100_000), { flatten: true });
  const shown = parsed.flatMap(({ name: named, address }) =>
    formatAddress(decodeHeader(named).slice(0, 300), decodeHeader(address ?? '').slice(0, 300)),
  );
  const more = shown.length - maxAddresses;
  return more > 0 ? [...shown.slice(0, maxAddresses), `and ${more} more`] : shown;
}

/** Formats a name and an address, either of which may be missing. */
export function formatAddress(name: string, address: string): string[] {
  if (!name) return address ? [address] : [];
  if (!address || address === name) return [name];
  return [`${/[,;<>"]/.test(name) ? `"${name.replaceAll('"', '')}"` : name} <${address}>`];
}

/** Adds a part to the body, the pictures or the attachments of a message. */
async function collect(part: Part, message: Message, nesting: Nesting): Promise<void> {
  const { mediaType } = part;
  const [start, ...others] = part.parts;
  switch (mediaType) {
    case 'multipart/alternative':
      return collectAlternatives(part, message, nesting);
    case 'multipart/related': {
      const root = part.parameters.get('start')?.replaceAll(/^<|>$/g, '');
      const main = part.parts.find(({ contentId }) => root !== undefined && contentId === root) ?? start;
      if (main) await collect(main, message, nesting);
      for (const other of part.parts) if (other !== main) await collectFile(other, message, nesting);
      return;
    }
    case 'multipart/signed': {
      if (start) await collect(start, message, nesting);
      const isPgp = part.parameters.get('protocol')?.includes('pgp');
      message.notes.push(isPgp ? pgpNotes.signed : smimeNotes.signed);
      for (const other of others.slice(1)) await collect(other, message, nesting);
      return;
    }
    case 'multipart/encrypted':
      message.notes.push(pgpNotes.encrypted);
      for (const other of others) await collectFile(other, message, nesting);
      return;
    default:
  }
  if (mediaType.startsWith('multipart/')) {
    for (const child of part.parts) await collect(child, message, nesting);
    return;
  }
  const isText = mediaType === 'text/plain' || mediaType === 'text/html';
  const isFirst = message.body.length === 0;
  if (isText && part.disposition !== 'attachment' && (part.name === undefined || isFirst)) {
    const block = await blockOf(part);
    const opened = block.text === undefined ? undefined : openArmor(block.text);
    if (opened) {
      block.text = opened.text;
      message.notes.push(opened.note);
      if (opened.file) message.attachments.push(opened.file);
    }
    if ((block.html ?? block.text ?? '').trim() !== '') message.body.push(block);
    return;
  }
  await collectFile(part, message, nesting);
}

/** Adds the richest form of a text that the outputs can show, and the plain one for those that have no other. */
async function collectAlternatives(part: Part, message: Message, nesting: Nesting): Promise<void> {
  const isForm = (mediaType: string) => (child: Part) => holds(child, mediaType);
  const rich = part.parts.findLast(isForm('text/html'));
  const plain = part.parts.findLast((child) => child !== rich && holds(child, 'text/plain'));
  const before = message.body.length;
  if (rich) await collect(rich, message, nesting);
  const added = message.body.slice(before);
  if (plain) {
    const text: Message = { ...message, body: [], attachments: [], notes: [] };
    await collect(plain, text, nesting);
    const words = text.body.flatMap((block) => block.text ?? []).join('\n');
    const [target] = added.filter(({ html }) => html !== undefined);
    if (target) {
      target.text = words;
      // The text stands for the whole of the other form.
      for (const block of added) if (block !== target && block.html !== undefined) block.text = '';
      message.attachments.push(...text.attachments);
    } else {
      message.body.push(...text.body);
      message.attachments.push(...text.attachments);
    }
  }
  for (const child of part.parts) {
    if (child === rich || child === plain) continue;
    if (child.mediaType === 'text/calendar' || !/^(?:text|multipart)\//.test(child.mediaType))
      await collectFile(child, message, nesting);
  }
}

function holds(part: Part, mediaType: string): boolean {
  return part.mediaType === mediaType || part.parts.some((child) => holds(child, mediaType));
}

async function blockOf(part: Part): Promise<Block> {
  const text = await textOf(part);
  if (part.mediaType === 'text/html') return { html: text };
  const isFlowed = part.parameters.get('format')?.toLowerCase() === 'flowed';
  return { text: isFlowed ? unflow(text, part.parameters.get('delsp')?.toLowerCase() === 'yes') : text };
}

/** Decodes a text. A declared character set that the bytes contradict does not count. */
export async function textOf(part: Part): Promise<string> {
  const bytes = contentOf(part);
  const declared = part.parameters.get('charset') ?? (part.mediaType === 'text/html' ? declaredIn(bytes) : undefined);
  return decodeDeclared(bytes, declared);
}

/** Returns the character set that a page declares. */
function declaredIn(bytes: Buffer): string | undefined {
  return /charset\s*=\s*["']?\s*([\w-]+)/i.exec(bytes.toString('latin1', 0, 4096))?.[1];
}

/** Joins the lines of flowed text (RFC 3676): one that ends with a space continues in the next of the same quotation. */
function unflow(text: string, deletesSpace: boolean): string {
  const lines: string[] = [];
  let open: { depth: number } | undefined;
  for (const line of text.split(/\r?\n/)) {
    const marks = /^>*/.exec(line)?.[0] ?? '';
    const rest = line.slice(marks.length).replace(/^ /, '');
    const depth = marks.length;
    const isSignature = rest === '-- ';
    if (open?.depth === depth && !isSignature) lines.push(`${lines.pop() ?? ''}${rest}`);
    else lines.push(depth > 0 ? `${marks} ${rest}` : rest);
    const flows = rest.endsWith(' ') && !isSignature;
    if (flows && deletesSpace) lines.push((lines.pop() ?? '').slice(0, -1));
    open = flows ? { depth } : undefined;
  }
  return lines.join('\n');
}

/** Adds a file: a picture of the body, a message, an invitation, or an attachment. */
async function collectFile(part: Part, message: Message, nesting: Nesting): Promise<void> {
  const { mediaType, contentId, location } = part;
  if (part.parts.length > 0) return collect(part, message, nesting);
  if (mediaType === 'message/external-body') {
    const name = nameOf(part, 'file');
    message.attachments.push({ ...fileOf(part, name, Buffer.alloc(0)), missing: 'it is stored elsewhere' });
    return;
  }
  if (/^message\/(?:rfc822|global)$/.test(mediaType)) return collectMessage(part, message, nesting);
  const bytes = contentOf(part);
  const attachment = fileOf(part, nameOf(part, usualName(mediaType)), bytes);
  const isSmime = /^application\/(?:x-)?pkcs7-mime$/.test(mediaType);
  // Gateways replace the type by that of any file.
  if (isSmime || (mediaType === 'application/octet-stream' && /\.p7m$/i.test(attachment.name))) {
    const opened = openSmime(bytes);
    if (opened || isSmime) message.notes.push(smimeNotes[opened?.kind ?? 'unknown']);
    if (opened?.kind === 'signed' && nesting.depth < maxNesting) {
      const inside = { ...nesting, depth: nesting.depth + 1 };
      await collect(parsePart(opened.content), message, inside);
      nesting.count = inside.count;
      return;
    }
  }
  // Exchange makes files of the parts of an encrypted message.
  if (mediaType === 'application/pgp-encrypted' && /^\s*Version: 1\s*$/.test(bytes.toString('latin1', 0, 100))) {
    message.notes.push(pgpNotes.encrypted);
    return;
  }
  if (/^application\/(?:vnd\.)?ms-tnef$/.test(mediaType) || /^winmail\.dat$/i.test(attachment.name)) {
    const found = await readTnef(bytes);
    if (found) {
      const hasBody = message.body.some(({ html, text = '' }) => html !== undefined || text.trim() !== '');
      if (!hasBody) message.body.push(...found.body);
      message.attachments.push(...found.attachments);
      for (const [key, picture] of found.pictures) message.pictures.set(key, picture);
      return;
    }
  }
  if (mediaType === 'text/calendar') {
    const text = describeCalendar(await textOf(part));
    if (text) message.body.push({ text });
  }
  if (mediaType.startsWith('image/')) {
    for (const key of [contentId, location])
      if (key !== undefined) message.pictures.set(key.toLowerCase(), { bytes, attachment });
    attachment.isInline = contentId !== undefined && part.disposition !== 'attachment';
    // Pictures between paragraphs of plain text, as Apple's programs write them.
    if (part.disposition === 'inline' && contentId === undefined) {
      message.body.push({ picture: attachment });
      attachment.isInline = true;
    }
  }
  message.attachments.push(attachment);
}

async function collectMessage(part: Part, message: Message, nesting: Nesting): Promise<void> {
  const bytes = contentOf(part);
  nesting.count += 1;
  const isBounded = nesting.depth < maxNesting && nesting.count <= maxNested;
  const inside = { ...nesting, depth: nesting.depth + 1 };
  const nested = isBounded ? await readEml(bytes, inside) : undefined;
  nesting.count = Math.max(nesting.count, inside.count);
  const name = nameOf(part, `${nested?.subject || 'message'}.eml`);
  message.attachments.push({ ...fileOf(part, name, bytes), ...(nested ? { message: nested } : {}) });
}

function fileOf({ mediaType }: Part, name: string, bytes: Buffer): Attachment {
  return { name, mediaType, bytes, isInline: false };
}

function nameOf({ name }: Part, fallback: string): string {
  return safeName(name ?? fallback, 'file');
}

const extensions: Record<string, string> = {
  'text/plain': 'txt',
  'text/html': 'html',
  'text/calendar': 'ics',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'application/pdf': 'pdf',
  'application/pkcs7-mime': 'p7m',
  'application/pkcs7-signature': 'p7s',
  'application/pgp-encrypted': 'pgp',
  'message/delivery-status': 'txt',
};

function usualName(mediaType: string): string {
  const extension = extensions[mediaType] ?? mediaType.split('/')[1]?.replaceAll(/[^\w]/g, '') ?? 'bin';
  const stem = mediaType.startsWith('image/') ? 'picture' : extension === 'ics' ? 'invitation' : 'attachment';
  return `${stem}.${extension}`;
}
