import { isoDate, type Message } from './message.ts';
import { headerRows, withoutBidi } from './page.ts';
import { writeText } from './plain.ts';

/** Writes a message as text: the header block, an empty line, and the body. */
export function plainOf(message: Message): string {
  const rows: [string, string][] = [['Subject', message.subject], ...headerRows(message, filesOf(message))];
  const head = rows.map(([label, value]) => `${label}: ${withoutBidi(value)}`);
  return `${[...head, ...message.notes, '', textOf(message)].join('\n').trimEnd()}\n`;
}

/** Writes messages as JSON, with their text and the names of their attachments. */
export function jsonOf(messages: Message[]): string {
  const described = messages.map((message) => ({
    subject: message.subject,
    from: message.from,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    reply_to: message.replyTo,
    date: message.date ? isoDate(message.date) : null,
    message_id: message.id ?? null,
    references: message.references,
    text: textOf(message),
    attachments: message.attachments.map(({ name, mediaType, bytes, isInline }) => ({
      name,
      media_type: mediaType,
      size: bytes.length,
      inline: isInline,
    })),
    notes: message.notes,
  }));
  return `${JSON.stringify({ messages: described }, null, 2)}\n`;
}

function textOf({ body }: Message): string {
  const texts = body.map(
    ({ text, html, picture }) => text ?? (html !== undefined ? writeText(html) : `[${picture?.name}]`),
  );
  return texts
    .map((text) => text.replaceAll('\r\n', '\n').replaceAll(/^\n+|\n+$/g, ''))
    .filter((text) => text !== '')
    .join('\n\n');
}

function filesOf({ attachments }: Message) {
  return attachments.filter(({ isInline }) => !isInline);
}
