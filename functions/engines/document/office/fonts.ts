import { encodeXml } from '../xml-text.ts';

/** A font in documents and its substitutes, the best first. */
interface Substitution {
  fonts: string[];
  substitutes: string[];
  /** Whether the substitutes keep the widths of the font, or its letters in another weight, so that the layout stays. */
  compatible?: true;
}

const sans = ['Liberation Sans', 'Noto Sans', 'DejaVu Sans'];
const serif = ['Liberation Serif', 'Noto Serif', 'DejaVu Serif'];
const mono = ['Liberation Mono', 'DejaVu Sans Mono', 'Noto Sans Mono'];

/** Metric-compatible fonts first, then others of the same class. */
const substitutions: Substitution[] = [
  { fonts: ['Arial', 'Helvetica'], substitutes: ['Liberation Sans', 'Nimbus Sans'], compatible: true },
  { fonts: ['Times New Roman', 'Times'], substitutes: ['Liberation Serif', 'Nimbus Roman'], compatible: true },
  { fonts: ['Courier New', 'Courier'], substitutes: ['Liberation Mono', 'Nimbus Mono PS'], compatible: true },
  { fonts: ['Calibri', 'Calibri Light'], substitutes: ['Carlito'], compatible: true },
  { fonts: ['Cambria'], substitutes: ['Caladea'], compatible: true },
  {
    fonts: ['Arial Narrow', 'Helvetica Narrow'],
    substitutes: ['Liberation Sans Narrow', 'Nimbus Sans Narrow'],
    compatible: true,
  },
  { fonts: ['Palatino Linotype', 'Palatino', 'Book Antiqua'], substitutes: ['P052'], compatible: true },
  { fonts: ['Bookman Old Style', 'ITC Bookman'], substitutes: ['URW Bookman'], compatible: true },
  { fonts: ['Century Schoolbook', 'New Century Schoolbook'], substitutes: ['C059'], compatible: true },
  { fonts: ['Century Gothic', 'ITC Avant Garde Gothic'], substitutes: ['URW Gothic'], compatible: true },
  { fonts: ['Monotype Corsiva', 'Zapf Chancery', 'ITC Zapf Chancery'], substitutes: ['Z003'], compatible: true },
  { fonts: ['Comic Sans MS', 'Comic Sans'], substitutes: ['Comic Neue', ...sans] },
  { fonts: ['Verdana', 'Geneva', 'Lucida Sans Unicode', 'Lucida Sans'], substitutes: ['DejaVu Sans', ...sans] },
  { fonts: ['Segoe UI', 'Open Sans', 'Aptos'], substitutes: ['Noto Sans', ...sans] },
  { fonts: ['Georgia'], substitutes: ['Noto Serif', ...serif] },
  { fonts: ['Lucida Console', 'Monaco', 'Menlo'], substitutes: ['DejaVu Sans Mono', ...mono] },
  { fonts: ['Consolas', 'Andale Mono'], substitutes: mono },
  { fonts: ['Garamond', 'Baskerville', 'Constantia', 'Didot', 'Bodoni MT', 'Perpetua'], substitutes: serif },
  {
    fonts: ['Impact', 'Tahoma', 'Trebuchet MS', 'Candara', 'Corbel', 'Helvetica Neue', 'Franklin Gothic Medium'],
    substitutes: sans,
  },
  {
    fonts: ['Segoe UI Emoji', 'Segoe UI Symbol', 'Apple Color Emoji', 'Noto Color Emoji', 'Noto Emoji'],
    substitutes: ['Symbola', 'DejaVu Sans'],
  },
  { fonts: ['MS Gothic', 'MS PGothic', 'Meiryo', 'Yu Gothic'], substitutes: ['Noto Sans CJK JP'] },
  { fonts: ['MS Mincho', 'MS PMincho', 'Yu Mincho'], substitutes: ['Noto Serif CJK JP', 'Noto Sans CJK JP'] },
  { fonts: ['SimHei', 'Microsoft YaHei', 'DengXian'], substitutes: ['Noto Sans CJK SC'] },
  { fonts: ['SimSun', 'NSimSun', 'FangSong', 'KaiTi'], substitutes: ['Noto Serif CJK SC', 'Noto Sans CJK SC'] },
  { fonts: ['Microsoft JhengHei'], substitutes: ['Noto Sans CJK TC'] },
  { fonts: ['MingLiU', 'PMingLiU'], substitutes: ['Noto Serif CJK TC', 'Noto Sans CJK TC'] },
  { fonts: ['Malgun Gothic', 'Gulim', 'Dotum'], substitutes: ['Noto Sans CJK KR'] },
  { fonts: ['Batang', 'BatangChe'], substitutes: ['Noto Serif CJK KR', 'Noto Sans CJK KR'] },
];

/** Parts of names that indicate the class of other fonts. The first match counts. */
const classes: [part: string, substitutes: string[]][] = [
  ['Mono', mono],
  ['Code', mono],
  ['Courier', mono],
  ['Typewriter', mono],
  ['Sans', sans],
  ['Serif', serif],
  ['Roman', serif],
  ['Garamond', serif],
  ['Baskerville', serif],
  ['Bodoni', serif],
  ['Caslon', serif],
  ['Minion', serif],
  ['Palatino', serif],
  ['Slab', serif],
];

/**
 * Fonts that must not be used: LibreOffice writes the glyphs of colour fonts as empty ones, and fontconfig substitutes the
 * dingbats for bold display fonts.
 */
const rejected = ['Noto Color Emoji', 'D050000L'];

const families = (names: string[]) => names.map((name) => `<string>${encodeXml(name)}</string>`).join('');

/** Returns the fontconfig configuration for LibreOffice: that of the system, with our substitutions before its own. */
export function fontConfiguration(system: string): string {
  const named = substitutions.flatMap(({ fonts, substitutes }) => fonts.map((font) => [font, substitutes] as const));
  // Before those of the system, and only for fonts without another rule.
  const known = named.map(
    ([font]) => `<test name="family" qual="all" compare="not_eq"><string>${encodeXml(font)}</string></test>`,
  );
  const others = [...classes, ['', sans] as const].map(([part, substitutes], index) => {
    const contains = part === '' ? '' : `<test name="family" compare="contains"><string>${part}</string></test>`;
    const earlier = classes
      .slice(0, index)
      .map(([before]) => `<test name="family" qual="all" compare="not_contains"><string>${before}</string></test>`);
    return `<match target="pattern">${known.join('')}${earlier.join('')}${contains}<edit name="family" mode="append" binding="same">${families(substitutes)}</edit></match>`;
  });
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${named
  .map(
    ([font, substitutes]) =>
      `<match target="pattern"><test name="family"><string>${encodeXml(font)}</string></test><edit name="family" mode="append" binding="same">${families(substitutes)}</edit></match>`,
  )
  .join('\n')}
${others.join('\n')}
<include ignore_missing="yes">${encodeXml(system)}</include>
<selectfont><rejectfont>${rejected.map((font) => `<pattern><patelt name="family"><string>${font}</string></patelt></pattern>`).join('')}</rejectfont></selectfont>
</fontconfig>
`;
}

/** Emoji that Symbola lacks: most of those since Unicode 11. */
const newEmoji =
  /[\u{1f6d5}-\u{1f6df}\u{1f6f9}-\u{1f6fc}\u{1f7e0}-\u{1f7f0}\u{1f90c}-\u{1f90f}\u{1f93f}\u{1f94d}-\u{1f94f}\u{1f96c}-\u{1f97f}\u{1f998}-\u{1f9bf}\u{1f9c1}-\u{1f9cf}\u{1f9e7}-\u{1f9ff}\u{1fa70}-\u{1faff}]/gu;
/** The first two bytes of all emoji in UTF-8. */
const emojiStart = Buffer.from([0xf0, 0x9f]);

/** Returns a warning if parts of a document contain emoji that no font has. */
export function undrawnEmoji(parts: Iterable<Buffer>): string[] {
  const found = new Set<string>();
  for (const bytes of parts)
    if (bytes.includes(emojiStart)) for (const [emoji] of bytes.toString().matchAll(newEmoji)) found.add(emoji);
  return found.size === 0 ? [] : [`Emoji that no font has were not drawn: ${[...found].slice(0, 10).join(' ')}.`];
}

/** Returns the fonts in the text of a document. Excludes fonts of unused styles if they are easy to recognize. */
export function fontsNamed(parts: Map<string, Buffer>): string[] {
  const textOf = (pattern: RegExp) =>
    [...parts].flatMap(([name, bytes]) => (pattern.test(name) ? [bytes.toString()] : [])).join('\n');
  const found = parts.has('word/document.xml')
    ? fontsOfWord(textOf)
    : parts.has('content.xml')
      ? fontsOfOpenDocument(textOf(/^(?:content|styles)\.xml$/))
      : [
          ...values(
            textOf(/^ppt\/(?:slides|slideMasters|theme)\/[^/]+\.xml$/),
            /<a:latin\s[^<>]*?typeface="([^"+]+)"/g,
          ),
          ...values(textOf(/^xl\/styles\.xml$/), /<(?:\w+:)?name\s+val="([^"]+)"/g),
        ];
  return unique(found);
}

/** Returns the fonts in flat OpenDocument or rich text. */
export function fontsInText(text: string): string[] {
  const start = text.indexOf('\\fonttbl');
  const table =
    start < 0
      ? ''
      : (text.slice(start, start + 65_536).split(/\\(?:colortbl|stylesheet|info|generator|pard)/)[0] ?? '');
  return unique([...fontsOfOpenDocument(text), ...values(table, /\\f\d+[^;{}]*?\s([^\\;{}]+);/g)]);
}

const values = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, value = '']) => value);

function unique(names: string[]): string[] {
  const plain = names.map((name) =>
    name
      .replaceAll(/&(?:apos|quot|#39);|['"]/g, '')
      .replaceAll('&amp;', '&')
      .trim(),
  );
  return [...new Set(plain)].filter((name) => name !== '');
}

function fontsOfWord(textOf: (pattern: RegExp) => string): string[] {
  const text = textOf(/^word\/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml$/);
  const styles = textOf(/^word\/styles\.xml$/);
  const [defaults = '', ...rules] = styles.split(/<w:style(?=\s)/);
  const blocks = new Map(rules.map((block) => [/\sw:styleId="([^"]*)"/.exec(block)?.[1] ?? '', block]));
  const used = [...blocks].flatMap(([id, block]) => (/^[^<>]*\sw:default="(?:1|true)"/.test(block) ? [id] : []));
  used.push(...new Set(values(text, /<w:(?:p|r|tbl)Style\s+w:val="([^"]*)"/g)));
  const seen = new Set<string>();
  let all = text + defaults;
  for (let id = used.pop(); id !== undefined; id = used.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const block = blocks.get(id) ?? '';
    all += block;
    used.push(...values(block, /<w:basedOn\s+w:val="([^"]*)"/g));
  }
  const theme = textOf(/^word\/theme\/theme1\.xml$/);
  const ofTheme = ['major', 'minor'].filter((kind) => new RegExp(`w:asciiTheme="${kind}`).test(all));
  return [
    ...values(all, /<w:rFonts\s[^<>]*?w:ascii="([^"]+)"/g),
    ...ofTheme.flatMap((kind) =>
      values(theme, new RegExp(`<a:${kind}Font>\\s*<a:latin\\s[^<>]*?typeface="([^"]+)"`, 'g')),
    ),
  ];
}

function fontsOfOpenDocument(text: string): string[] {
  const faces = new Map(
    [...text.matchAll(/<style:font-face\s[^<>]*?style:name="([^"]*)"[^<>]*?svg:font-family="([^"]*)"/g)].map(
      ([, name = '', family = '']) => [name, family],
    ),
  );
  return [
    ...values(text, /\sfo:font-family="([^"]+)"/g),
    ...values(text, /\sstyle:font-name="([^"]+)"/g).map((name) => faces.get(name) ?? name),
  ];
}

/** Returns whether a font of a PDF belongs to a family, by its PostScript name. */
function isOf(face: string, family: string): boolean {
  const plain = family.replaceAll(/[^a-z\d]/gi, '').toLowerCase();
  const rest = face.replaceAll(/[^a-z\d-]/gi, '').toLowerCase();
  if (!rest.startsWith(plain)) return false;
  return /^(?:-.*|mt|ps|psmt|regular|roman|book|medium|light|demi|semibold|bold|black|italic|oblique)*$/.test(
    rest.slice(plain.length),
  );
}

const installed = new Set(
  [sans, serif, mono, ...substitutions.flatMap(({ substitutes, compatible }) => (compatible ? [substitutes] : []))]
    .flat()
    .map((name) => name.toLowerCase()),
);

/** LibreOffice has the symbols of these in its own font. */
const signs = /^(?:symbol|wingdings.*|webdings|marlett|mt extra|.*dingbats)$/i;

const substitutionOf = (font: string) =>
  substitutions.find(({ fonts }) => fonts.some((other) => other.toLowerCase() === font.toLowerCase()));

/** Returns the fonts that are not installed under their own name. */
export function replaceableFonts(named: string[]): string[] {
  return named.filter((font) => !installed.has(font.toLowerCase()) && !signs.test(font)).map(shown);
}

/** Names are the user's, so that they may have any length and characters. */
function shown(font: string): string {
  return font.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '').slice(0, 80);
}

const maxNamed = 10;

/** Returns warnings about replaced fonts. Those whose substitutes keep the layout share one. */
export function substitutedFonts(named: string[], faces: string[]): string[] {
  const replaced = named.flatMap((font) => {
    if (faces.some((face) => isOf(face, font))) return [];
    const known = substitutionOf(font);
    const ofClass = classes.find(([part]) => font.toLowerCase().includes(part.toLowerCase()))?.[1] ?? sans;
    const used = (known?.substitutes ?? ofClass).find((substitute) => faces.some((face) => isOf(face, substitute)));
    return used === undefined ? [] : [{ font, used, keepsWidths: known?.compatible === true }];
  });
  const { alike = [], others = [] } = Object.groupBy(replaced, ({ keepsWidths }) => (keepsWidths ? 'alike' : 'others'));
  const warnings = replacedFonts(others);
  if (alike.length > 0) warnings.push(sameWidths(alike));
  return warnings;
}

/** Returns warnings about fonts and those that were used instead. */
export function replacedFonts(replaced: { font: string; used: string }[]): string[] {
  const warnings = replaced
    .slice(0, maxNamed)
    .map(({ font, used }) => `The font ${shown(font)} is not installed; ${shown(used)} was used.`);
  if (replaced.length > maxNamed) warnings.push(`${replaced.length - maxNamed} more fonts are not installed.`);
  return warnings;
}

/** Returns the fonts that have the widths of another. */
export function compatibleSubstitutes(font: string): string[] {
  const known = substitutionOf(font);
  return known?.compatible ? known.substitutes : [];
}

function sameWidths(replaced: { font: string; used: string }[]): string {
  const pairs = replaced.slice(0, maxNamed).map(({ font, used }) => `${font} by ${used}`);
  const more = replaced.length - pairs.length;
  return `Fonts that are not installed were replaced by others of the same widths: ${pairs.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** Fonts that every reader of PDFs has, or one of the same widths. */
const standardFaces = /^(?:Helvetica|Arial|Times|Courier|Symbol|ZapfDingbats)/;

/** Returns warnings about fonts that are not in a PDF, with what is drawn instead. */
export function unembeddedFonts(fonts: { font: string; used: string }[]): string[] {
  const replaced = new Map(
    fonts.flatMap(({ font, used }) =>
      standardFaces.test(font) || isOf(font, used) ? [] : [[shown(font), shown(used)]],
    ),
  );
  const warnings = [...replaced]
    .slice(0, maxNamed)
    .map(([font, used]) => `The font ${font} is not in the PDF; ${used} was used.`);
  if (replaced.size > maxNamed) warnings.push(`${replaced.size - maxNamed} more fonts are not in the PDF.`);
  return warnings;
}
