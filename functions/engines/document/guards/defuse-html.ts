import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import { EngineError } from '../../runtime/engine.ts';
import { type CssNames, defuseCss } from './defuse-css.ts';
import { defuseVector } from './defuse-vector.ts';
import type { Inspection } from './inspection.ts';
import { decodeDataUri, isVector, rasterType, toDataUri } from './pictures.ts';

const chunkLetters = 1 << 16;
const maxLetters = 400_000_000;

/** Elements with content that the standard reads as text, even if it looks like markup. */
const textModes: Record<string, Tokenizer['state']> = {
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  script: TokenizerMode.SCRIPT_DATA,
  plaintext: TokenizerMode.PLAINTEXT,
};

/** Elements that load, run or redirect. The text of those in `textModes` is removed too. */
const removed = new Set(
  'script iframe noembed noframes frame frameset object embed applet param link base bgsound source track audio video picture portal template svg use'.split(
    ' ',
  ),
);

/** Elements of literal text. All readers support the first. */
const literal = new Set(['xmp', 'listing', 'plaintext']);

/** Attributes that contain no address in any element. */
const harmless = new Set(
  `abbr accept-charset align alink alt axis bgcolor border bordercolor cellpadding cellspacing char charoff checked clear color cols colspan
  compact coords dir direction disabled epub:type face for frame frameborder gutter headers height hidden hspace id label lang language leftmargin
  link loop marginheight marginwidth maxlength media multiple name nohref noshade noresize nowrap open prompt readonly rel rev role rows rowspan rules
  scope scrolldelay sdnum sdval sdfixed selected shape size span start summary tabindex text title topmargin type valign value vlink vspace
  width wrap xml:lang accent accentunder columnalign columnlines columnspacing columnspan display displaystyle encoding fence form
  largeop lspace rspace linethickness mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowalign rowlines
  rowspacing scriptlevel separator stretchy symmetric datetime cite-as itemprop class`.split(/\s+/),
);

const name = /^[a-z][a-z\d:-]*$/;

/** What to do with what a page names. By default, everything that is not in the page itself is removed. */
export interface PageNames extends CssNames {
  /** Returns the markup to put in the place of a picture that is not there. */
  missing?: (attributes: ReadonlyMap<string, string>) => string;
}

/**
 * Rewrites a page without anything that makes a reader load files or addresses. Links and pictures as data URIs stay. Parses
 * according to the standard and writes in one plain spelling: text and attributes contain no brackets or quotes, so that even
 * a lax parser finds only the tags that were allowed here.
 */
export function defuseHtml(page: string, inspection: Inspection, names: PageNames = {}): string {
  const writer = new PageWriter(inspection, names);
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: false }, writer);
  writer.tokenizer = tokenizer;
  for (let at = 0; at < page.length; at += chunkLetters)
    tokenizer.write(page.slice(at, at + chunkLetters), at + chunkLetters >= page.length);
  return writer.finish();
}

class PageWriter {
  tokenizer: Tokenizer | undefined;
  onParseError = null;
  readonly #inspection: Inspection;
  readonly #names: PageNames;
  #written: string[] = [];
  #letters = 0;
  #declared = false;
  /** The element with literal text that is being read. */
  #textOf = '';
  #style: string[] = [];

  constructor(inspection: Inspection, names: PageNames) {
    this.#inspection = inspection;
    this.#names = names;
  }

  finish(): string {
    if (this.#textOf !== '') this.#endText();
    this.#declare();
    return this.#written.join('');
  }

  onStartTag(tag: Token.TagToken): void {
    const { tagName } = tag;
    const mode = textModes[tagName];
    // In XHTML such an element may be empty, and what follows is not its text.
    if (mode !== undefined && !tag.selfClosing) {
      this.#textOf = tagName;
      if (this.tokenizer) this.tokenizer.state = mode;
    }
    if (removed.has(tagName) || !name.test(tagName)) return;
    if (tagName !== 'html' && tagName !== 'head') this.#declare();
    if (tagName === 'meta' && !isHarmlessMeta(tag)) return;
    const attributes = this.#attributesOf(tag);
    const isMissing = tagName === 'img' && this.#names.missing && !attributes.has('src');
    if (isMissing) this.#write(this.#names.missing?.(new Map([...valuesOf(tag), ...attributes])) ?? '');
    else this.#write(`<${literal.has(tagName) ? 'pre' : tagName}${written(attributes)}>`);
    if (tagName === 'head') this.#declare();
    if (mode !== undefined && tag.selfClosing) this.#write(`</${tagName}>`);
  }

  onEndTag({ tagName }: Token.TagToken): void {
    if (this.#textOf !== '') {
      this.#endText();
      return;
    }
    if (removed.has(tagName) || !name.test(tagName)) return;
    this.#write(`</${literal.has(tagName) ? 'pre' : tagName}>`);
  }

  onCharacter({ chars }: Token.CharacterToken): void {
    if (this.#textOf === 'style') this.#style.push(chars);
    else if (!removed.has(this.#textOf)) {
      this.#declare();
      this.#write(escaped(chars));
    }
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    if (this.#textOf !== '') this.onCharacter(token);
    else this.#write(token.chars);
  }

  // Comments may be markup to other readers, and are not visible anyway.
  onComment(): void {}
  onDoctype(): void {}
  onNullCharacter(): void {}
  onEof(): void {}

  #endText(): void {
    const element = this.#textOf;
    this.#textOf = '';
    if (element === 'style') {
      const css = this.#style.join('').replaceAll(/<!\[CDATA\[|\]\]>|<!--|-->/g, ' ');
      this.#style = [];
      this.#write(`${defuseCss(css, this.#names)}</style>`);
    } else if (!removed.has(element)) this.#write(`</${literal.has(element) ? 'pre' : element}>`);
  }

  /** Declares the encoding before any other content. */
  #declare(): void {
    if (this.#declared) return;
    this.#declared = true;
    this.#write('<meta http-equiv="content-type" content="text/html; charset=utf-8">');
  }

  #write(text: string): void {
    this.#letters += text.length;
    if (this.#letters > maxLetters) throw new EngineError('The page is too large. Split it.');
    this.#written.push(text);
  }

  #attributesOf(tag: Token.TagToken): Map<string, string> {
    const attributes = new Map<string, string>();
    for (const attribute of tag.attrs) {
      const value = this.#valueOf(tag.tagName, attribute.name, attribute.value);
      if (value !== undefined) attributes.set(attribute.name, value.replaceAll(/\p{Cc}/gu, ' '));
    }
    return attributes;
  }

  #valueOf(element: string, attribute: string, value: string): string | undefined {
    if (attribute === 'style') return defuseCss(value, this.#names);
    if (attribute === 'href') return element === 'a' || element === 'area' ? clickable(value) : undefined;
    if (attribute === 'usemap') return value.startsWith('#') ? value : undefined;
    if (attribute === 'content') return element === 'meta' ? value : undefined;
    if (attribute === 'src' || attribute === 'background') {
      const picture = this.#pictureOf(value);
      if (picture === undefined && element === 'img') this.#inspection.missingPictures.push(value);
      return picture;
    }
    return harmless.has(attribute) || /^aria-[a-z]+$/.test(attribute) ? value : undefined;
  }

  #pictureOf(value: string): string | undefined {
    const bytes = decodeDataUri(value) ?? this.#names.picture?.(value);
    if (!bytes) return undefined;
    const raster = rasterType(bytes);
    if (raster) return toDataUri(raster, bytes);
    return isVector(bytes) ? toDataUri('image/svg+xml', defuseVector(bytes, this.#inspection)) : undefined;
  }
}

const valuesOf = (tag: Token.TagToken) => tag.attrs.map((attribute) => [attribute.name, attribute.value] as const);

const written = (attributes: Map<string, string>) =>
  [...attributes].map(([attribute, value]) => ` ${attribute}="${escaped(value)}"`).join('');

/** Returns whether a page's metadata may stay: not if it redirects or declares the former encoding. */
function isHarmlessMeta({ attrs }: Token.TagToken): boolean {
  return attrs.every((attribute) => attribute.name !== 'http-equiv' && attribute.name !== 'charset');
}

function clickable(value: string): string | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(value.replaceAll(/[\s\p{Cc}]/gu, ''))?.[1]?.toLowerCase();
  return scheme === undefined || ['http', 'https', 'mailto', 'tel', 'ftp', 'news'].includes(scheme)
    ? value.trim()
    : undefined;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\u00a0': '&nbsp;' };

/** Writes text without brackets and quotes. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"\u00a0]/g, (letter) => escapes[letter] ?? '');
}
