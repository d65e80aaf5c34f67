import { decodeText } from '../document/plain-text.ts';

/** Decodes bytes in a declared character set, or the one that they are in if that is certain. */
export async function decodeDeclared(bytes: Buffer, declared = ''): Promise<string> {
  const plain = Buffer.from(bytes.filter((byte) => byte !== 0));
  const { encoding } = decoderOf(declared);
  const isUnknown = declared === '' || /^(?:us-)?ascii$|^unknown/i.test(declared.trim());
  if (encoding.startsWith('utf-16')) return decoderOf(declared).decode(bytes);
  if (encoding === 'iso-2022-jp') return decoderOf(declared).decode(plain);
  // Text in another character set is hardly ever valid UTF-8 by chance.
  if (isUnknown || encoding === 'utf-8' || isForeignUtf8(plain)) return (await decodeText(plain, 'auto')).text;
  return decoderOf(declared).decode(plain);
}

function isForeignUtf8(bytes: Buffer): boolean {
  try {
    return /[^\0-\x7f]/.test(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return false;
  }
}

/** Names of encodings in mail that the standard for the web does not have. */
const aliases: Record<string, string> = {
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  'iso-2022-jp-1': 'iso-2022-jp',
  'iso-2022-jp-2': 'iso-2022-jp',
  'tis-620': 'windows-874',
  'utf-7': 'utf-8',
  'x-gbk': 'gbk',
};

/** Returns the decoder of a character set; the Western European one for an unknown name. */
export function decoderOf(charset: string) {
  const name = charset.trim().toLowerCase();
  try {
    return new TextDecoder(aliases[name] ?? name.replace(/^(?:cp|ms|x-cp)-?(?=125)/, 'windows-'));
  } catch {
    return new TextDecoder('windows-1252');
  }
}
