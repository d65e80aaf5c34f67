import { safeName } from '../../../shared/files/names.ts';
import { decodeDeclared } from './charsets.ts';
import type { Attachment, Block } from './message.ts';
import { decompressRtf, unwrapRtf } from './rtf.ts';

/** Properties of a message or attachment by their number (MS-OXPROPS), with their type. */
export type Properties = Map<number, { type: number; bytes: Buffer }>;

export const tags = {
  messageClass: 0x001a,
  subject: 0x0037,
  submitted: 0x0039,
  representing: 0x0042,
  representingAddress: 0x0065,
  representingSmtp: 0x5d02,
  headers: 0x007d,
  recipientType: 0x0c15,
  sender: 0x0c1a,
  senderAddress: 0x0c1f,
  senderSmtp: 0x5d01,
  to: 0x0e04,
  cc: 0x0e03,
  delivered: 0x0e06,
  body: 0x1000,
  rtf: 0x1009,
  html: 0x1013,
  messageId: 0x1035,
  references: 0x1039,
  inReplyTo: 0x1042,
  displayName: 0x3001,
  address: 0x3003,
  smtp: 0x39fe,
  data: 0x3701,
  fileName: 0x3704,
  method: 0x3705,
  longName: 0x3707,
  mimeType: 0x370e,
  contentId: 0x3712,
  location: 0x3713,
  codePage: 0x3fde,
  locale: 0x3ff1,
  messageCodePage: 0x3ffd,
  hidden: 0x7ffe,
} as const;

const unicode = 0x001f;

/** Returns a text property, in the code page of its message if it is not Unicode. */
export async function textProperty(properties: Properties, tag: number, charset = ''): Promise<string | undefined> {
  const property = properties.get(tag);
  if (!property) return undefined;
  const text =
    property.type === unicode ? property.bytes.toString('utf16le') : await decodeDeclared(property.bytes, charset);
  return text.replaceAll('\0', '');
}

export function numberProperty(properties: Properties, tag: number): number | undefined {
  const bytes = properties.get(tag)?.bytes;
  return bytes && bytes.length >= 4 ? bytes.readInt32LE(0) : undefined;
}

/** Returns a time in milliseconds since the epoch. */
export function timeProperty(properties: Properties, tag: number): number | undefined {
  const bytes = properties.get(tag)?.bytes;
  if (!bytes || bytes.length < 8) return undefined;
  const time = Number(bytes.readBigUInt64LE(0) / 10_000n) - 11_644_473_600_000;
  return Math.abs(time) < 8e15 ? time : undefined;
}

/** Names of code pages that have no number in their name. */
const pages: Record<number, string> = {
  20127: '',
  20866: 'koi8-r',
  28591: 'iso-8859-1',
  50220: 'iso-2022-jp',
  51932: 'euc-jp',
  54936: 'gb18030',
  65001: 'utf-8',
};

/** Code pages of Windows by language, which is the lower part of a locale. */
const languages: Record<number, number> = {
  1: 1256,
  4: 936,
  5: 1250,
  8: 1253,
  13: 1255,
  14: 1250,
  17: 932,
  18: 949,
  21: 1250,
  25: 1251,
  30: 874,
  31: 1254,
};

function charsetOfPage(page: number | undefined): string | undefined {
  return page === undefined ? undefined : (pages[page] ?? `cp${page}`);
}

/** Returns the character set of texts that are not Unicode. */
export function charsetOf(properties: Properties): string {
  const locale = numberProperty(properties, tags.locale) ?? 0;
  return (
    charsetOfPage(numberProperty(properties, tags.messageCodePage)) ??
    charsetOfPage(languages[locale & 0x3ff]) ??
    charsetOfPage(numberProperty(properties, tags.codePage)) ??
    ''
  );
}

/** Returns the body in its best form: HTML, or that in rich text, or rich text, or plain text. */
export async function bodyOf(properties: Properties): Promise<Block[]> {
  const charset = charsetOf(properties);
  const text = (await textProperty(properties, tags.body, charset))?.trimEnd();
  const plain = text ? { text } : {};
  const html = properties.get(tags.html);
  if (html && html.bytes.length > 0) {
    const page = await textProperty(
      properties,
      tags.html,
      charsetOfPage(numberProperty(properties, tags.codePage)) ?? '',
    );
    if (page?.trim()) return [{ html: page, ...plain }];
  }
  const compressed = properties.get(tags.rtf);
  const rtf = compressed && decompressRtf(compressed.bytes);
  if (rtf) {
    const unwrapped = unwrapRtf(rtf);
    if (unwrapped && 'html' in unwrapped && unwrapped.html.trim()) return [{ ...unwrapped, ...plain }];
    if (!unwrapped && rtf.length > 0) return [{ rtf, ...plain }];
    if (unwrapped && 'text' in unwrapped && !text) return [unwrapped];
  }
  return text ? [plain] : [];
}

/** Returns an attachment by its properties. */
export async function attachmentOf(properties: Properties, bytes: Buffer, charset: string) {
  const text = (tag: number) => textProperty(properties, tag, charset);
  const name = (await text(tags.longName)) || (await text(tags.fileName)) || (await text(tags.displayName));
  const contentId = await text(tags.contentId);
  const location = await text(tags.location);
  const mediaType = ((await text(tags.mimeType)) ?? 'application/octet-stream').toLowerCase();
  const isHidden = properties.get(tags.hidden)?.bytes[0] === 1;
  const attachment: Attachment = {
    name: safeName(name || 'file', 'file'),
    mediaType,
    bytes,
    isInline:
      Boolean(contentId) && (isHidden || /^image\//.test(mediaType) || /\.(?:png|jpe?g|gif|bmp)$/i.test(name ?? '')),
  };
  return {
    attachment,
    keys: [contentId, location].flatMap((key) => (key ? [key.replaceAll(/^<|>$/g, '').toLowerCase()] : [])),
  };
}
