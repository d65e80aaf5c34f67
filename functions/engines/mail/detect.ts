import { extensionOf } from '../../../shared/files/names.ts';
import { CompoundFile } from '../runtime/compound-file.ts';

/** Extensions under which messages are kept; other names say what a text is. */
const names = ['', 'eml', 'email', 'mail', 'mbox', 'mbx', 'msg', 'rfc822'];

/** Detects messages: those of Outlook by a stream of their compound file, others, which are text, by their headers. */
export function detectMail(start: Uint8Array, name: string): string | undefined {
  if (CompoundFile.read(Buffer.from(start))?.has('__properties_version1.0')) return 'msg';
  const extension = extensionOf(name);
  if (!names.includes(extension)) return undefined;
  const text = Buffer.from(start.subarray(0, 16_384))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  // Thunderbird keeps the line before a message in the file of a single one.
  const isMailbox = /^From \S/.test(text) && extension !== 'eml';
  const message = text.replace(/^From [^\r\n]*\r?\n/, '');
  const headers = new Set(
    (message.split(/\r?\n\r?\n/)[0] ?? '')
      .split(/\r?\n(?![ \t])/)
      .map((line) => /^([!-9;-~]+):/.exec(line)?.[1]?.toLowerCase()),
  );
  if (headers.has(undefined) && !/\n/.test(message)) return undefined;
  const known = [
    'from',
    'date',
    'subject',
    'to',
    'message-id',
    'received',
    'mime-version',
    'return-path',
    'delivered-to',
  ];
  const count = known.filter((header) => headers.has(header)).length;
  if (isMailbox) return count > 0 ? 'mbox' : undefined;
  return count >= (extension === 'eml' ? 1 : 3) ? 'eml' : undefined;
}
