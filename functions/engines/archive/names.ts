/** Letters of the DOS encodings, which Node does not decode. Most archives do not state the encoding of their names. */
const dosLetters: Record<string, string> = {
  ibm437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ibm850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
};

/** Encodings by name, with their use, in order of preference if several fit equally well. */
export const nameEncodings: readonly (readonly [encoding: string, hint: string])[] = [
  ['ibm437', 'Western, DOS and Windows'],
  ['ibm850', 'Western European, DOS and Windows'],
  ['ibm866', 'Cyrillic, DOS and Windows'],
  ['shift_jis', 'Japanese'],
  ['gb18030', 'Chinese, simplified (GBK)'],
  ['euc-kr', 'Korean'],
  ['big5', 'Chinese, traditional'],
  ['windows-1252', 'Western European'],
  ['windows-1251', 'Cyrillic'],
  ['windows-1250', 'Central European'],
  ['koi8-r', 'Cyrillic'],
  ['euc-jp', 'Japanese'],
];

export interface NameReading {
  encoding: string;
  isSure: boolean;
}

/** Decodes a name as UTF-8. Returns undefined if it is invalid. */
export function decodeUtf8(raw: Uint8Array): string | undefined {
  return decodeStrictly('utf-8', raw);
}

/** Decodes a name in an encoding. Bytes that are not valid in it are read as DOS letters, which cover every byte. */
export function decodeName(encoding: string, raw: Uint8Array): string {
  return decodeUtf8(raw) ?? decodeStrictly(encoding, raw) ?? decodeDos('ibm437', raw);
}

/** Finds the most likely encoding of names that are not UTF-8. */
export function detectNames(names: Uint8Array[]): NameReading {
  const letters = names.reduce((sum, name) => sum + name.filter((byte) => byte >= 0x80).length, 0);
  const ranked = nameEncodings
    .flatMap(([encoding], place) => {
      const texts = names.map((name) => decodeStrictly(encoding, name));
      if (texts.some((text) => text === undefined)) return [];
      const text = texts.join('/');
      // Later encodings are rarer, so they have to fit clearly better.
      return [{ encoding, text, score: plausibility(text, encoding) / letters - place * 0.02 }];
    })
    .sort((one, other) => other.score - one.score);
  const [best, ...others] = ranked;
  if (!best) return { encoding: 'ibm437', isSure: false };
  const rival = others.find(({ text }) => text !== best.text);
  return { encoding: best.encoding, isSure: best.score > 0.5 && best.score - (rival?.score ?? 0) > 0.25 };
}

function decodeStrictly(encoding: string, raw: Uint8Array): string | undefined {
  if (encoding in dosLetters) return decodeDos(encoding, raw);
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    return undefined;
  }
}

function decodeDos(encoding: string, raw: Uint8Array): string {
  const letters = dosLetters[encoding] ?? '';
  return Array.from(raw, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : letters[byte - 0x80])).join('');
}

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}々ー]/u;
const latin = /[À-ɏ]/;
const cyrillic = /\p{Script=Cyrillic}/u;
/** Characters of two bytes that are in the first, commonly used part of their character set. */
const common: Record<string, (lead: number) => boolean> = {
  shift_jis: (lead) => lead >= 0x88 && lead <= 0x97,
  gb18030: (lead) => lead >= 0xb0 && lead <= 0xd7,
  big5: (lead) => lead >= 0xa4 && lead <= 0xc6,
  'euc-jp': (lead) => lead >= 0xb0 && lead <= 0xcf,
  'euc-kr': () => true,
};

/** Rates a text by the neighbours of its non-ASCII letters: about 1 per byte if it is decoded correctly. */
function plausibility(text: string, encoding: string): number {
  const characters = [...text];
  let score = 0;
  for (const [index, character] of characters.entries()) {
    if (character < '\u0080') continue;
    const before = characters[index - 1] ?? '/';
    const after = characters[index + 1] ?? '/';
    const isInWord = (letters: RegExp) => letters.test(before) || letters.test(after);
    if (wide.test(character)) {
      // A single one in a word of ASCII letters is really two letters of one byte.
      const isStranger = isInWord(/[a-z]/i) && !isInWord(wide);
      score += isStranger ? -3 : /[\uff61-\uff9f]/.test(character) ? -0.5 : wideScore(character, encoding);
    } else if (cyrillic.test(character)) {
      const isShouting = /\p{Ll}/u.test(before) && /\p{Lu}/u.test(character);
      score += isInWord(/[a-z]/i) ? -2 : isShouting ? -1 : /\p{Lu}/u.test(before) ? 0.8 : isInWord(cyrillic) ? 1 : 0.3;
    } else if (latin.test(character)) {
      const isShouting = /\p{Ll}/u.test(before) && /\p{Lu}/u.test(character);
      const isCrowded = before >= '\u0080' && after >= '\u0080' && latin.test(before) && latin.test(after);
      score += isShouting || isCrowded ? -1 : isInWord(/[a-z]/i) ? 1 : 0.3;
    } else score += /[\p{P}\p{Sc}№°©®]/u.test(character) ? 0 : -2;
  }
  return score;
}

/** Rates a character of two bytes, which counts twice. */
function wideScore(character: string, encoding: string): number {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}ー々]/u.test(character)) return 2.4;
  if (/\p{Script=Hangul}/u.test(character)) return usualHangul.includes(character) ? 2.4 : 1.6;
  // Modern Korean names have no Chinese characters.
  if (encoding === 'euc-kr') return 0;
  return commonIn(encoding).has(character) ? 2 : 1;
}

/** The syllables of most Korean words. */
const usualHangul =
  '가각간감강개거건검결경계고곡공과관교구국군권그금급기김나난남내년노농다단담당대도독동드등디라락란람량러력로록료류리마만말매면명모목무문물미민박반발방배번법변별보복본부북분비사산삼상새색생서석선설성세소속송수숙순술스습승시식신실심아안암앙애야약양어언업에여역연열영예오온와완외요용우운울원월위유육윤음응의이인일임입자작장재저적전절점정제조종주준중증지직진집차창채책처천철첨청체초총최추축출충취치카코크타태터토통트특파판편평폐포표품풍피하학한합항해행향허현형호혼홍화확환활황회획후훈휴더폴험답';

const commonSets = new Map<string, Set<string>>();

/** Returns the commonly used characters of an encoding. */
function commonIn(encoding: string): Set<string> {
  const known = commonSets.get(encoding);
  if (known) return known;
  const made = new Set<string>();
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    if (!common[encoding]?.(lead)) continue;
    for (let trail = encoding === 'gb18030' || encoding === 'euc-jp' ? 0xa1 : 0x40; trail <= 0xfe; trail++) {
      const character = decodeStrictly(encoding, Uint8Array.of(lead, trail));
      if (character !== undefined && [...character].length === 1) made.add(character);
    }
  }
  commonSets.set(encoding, made);
  return made;
}
