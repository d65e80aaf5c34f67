import type { Attachment } from './message.ts';

export const pgpNotes = {
  signed: 'Signed with OpenPGP. The signature was not verified.',
  encrypted: 'Encrypted with OpenPGP. The content cannot be shown without the key of a recipient.',
};

const line = (text: string) => `-----${text}-----`;

/** Opens OpenPGP in a text (RFC 9580): that of a signed message is shown, and an encrypted one becomes a file. */
export function openArmor(text: string): { text: string; note: string; file?: Attachment } | undefined {
  const signed = between(text, line('BEGIN PGP SIGNED MESSAGE'), line('END PGP SIGNATURE'));
  if (signed) {
    const content = signed.inside.slice(0, Math.max(0, signed.inside.indexOf(line('BEGIN PGP SIGNATURE'))));
    // Headers such as Hash end with an empty line, and lines that begin with a dash have another before it.
    const start = /\r?\n[ \t]*\r?\n/.exec(content);
    const words = content.slice(start ? start.index + start[0].length : 0).replace(/^- /gm, '');
    return { text: signed.before + words + signed.after.replace(/^\r?\n/, ''), note: pgpNotes.signed };
  }
  const encrypted = between(text, line('BEGIN PGP MESSAGE'), line('END PGP MESSAGE'));
  if (!encrypted) return undefined;
  const bytes = Buffer.from(encrypted.whole);
  const file = { name: 'encrypted.asc', mediaType: 'application/octet-stream', bytes, isInline: false };
  return { text: encrypted.before + encrypted.after, note: pgpNotes.encrypted, file };
}

/** Splits a text at two lines. */
function between(text: string, first: string, last: string) {
  const start = text.startsWith(first) ? 0 : text.indexOf(`\n${first}`) + 1;
  if (start === 0 && !text.startsWith(first)) return undefined;
  const end = text.indexOf(`\n${last}`, start);
  if (end < 0) return undefined;
  const after = end + 1 + last.length;
  const whole = text.slice(start, after);
  return {
    before: text.slice(0, start),
    inside: text.slice(start + first.length, end),
    after: text.slice(after),
    whole,
  };
}
