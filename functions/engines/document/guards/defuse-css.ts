import { type CSSToken, TokenType, tokenizer as tokenizerOf } from '@csstools/css-tokenizer';
import { decodeDataUri, rasterType, toDataUri } from './pictures.ts';

/** Functions and keywords that make a reader load a resource. */
const loading = /^(?:url|src|image|.*image-set|cross-fade|element|expression|paint)$/;
const importing = /^(?:import|namespace|charset)$/;
const plainName = /^[-\w\u0080-\uffff]+$/;
const plainSign = /^[-+*/.,:;>~|=^$!#%&()[\]{}]$/;

/** What to do with what a page names. */
export interface CssNames {
  /** Returns a picture that is not in the page itself. */
  picture?: (address: string) => Buffer | undefined;
  /** Selectors that replace those of elements. */
  elements?: Record<string, string>;
  /** Rules that are removed in addition, by their keyword. */
  removed?: string[];
}

/** What may come before the name of an element in a selector. */
const selectorStart = /(?:^|[\s,>+~{};/])$/;

/**
 * Removes everything from a style sheet or declarations that makes a reader load files or addresses. Raster images as data URIs
 * stay. Writes token by token in one plain spelling, without comments, escapes and angle brackets, because LibreOffice
 * separates tokens less strictly than the standard.
 */
export function defuseCss(css: string, names: CssNames = {}): string {
  const tokenizer = tokenizerOf({ css });
  const next = (): CSSToken | undefined => (tokenizer.endOfFile() ? undefined : tokenizer.nextToken());
  const written: string[] = [];
  for (let token = next(); token && token[0] !== TokenType.EOF; token = next())
    written.push(write(token, next, names, written.at(-1) ?? ''));
  return written.join('');
}

function write(token: CSSToken, next: () => CSSToken | undefined, names: CssNames, before: string): string {
  switch (token[0]) {
    case TokenType.URL:
      return urlOf(token[4].value, names);
    case TokenType.Function: {
      const name = token[4].value.toLowerCase();
      if (!loading.test(name)) return plainName.test(name) ? `${name}(` : skipTo(next, TokenType.CloseParen, '');
      const first = skipSpace(next);
      if (first?.[0] === TokenType.CloseParen) return 'none';
      const uri = name === 'url' && first?.[0] === TokenType.String ? urlOf(first[4].value, names) : 'none';
      return first ? skipTo(next, TokenType.CloseParen, uri) : uri;
    }
    case TokenType.AtKeyword: {
      const name = token[4].value.toLowerCase();
      if (importing.test(name) || names.removed?.includes(name) || !plainName.test(name))
        return skipTo(next, TokenType.Semicolon, '');
      return `@${name}`;
    }
    case TokenType.String:
      return `"${token[4].value.replaceAll(/[^\p{L}\p{N}\p{M} ,._+-]/gu, '')}"`;
    case TokenType.Ident:
      if (loading.test(token[4].value.toLowerCase())) return 'none';
      return (selectorStart.test(before) && names.elements?.[token[4].value.toLowerCase()]) || plain(token[4].value);
    case TokenType.Hash:
      return `#${plain(token[4].value)}`;
    case TokenType.Number:
    case TokenType.Percentage:
      return token[1];
    case TokenType.Dimension:
      return `${token[4].value}${plain(token[4].unit)}`;
    case TokenType.Whitespace:
    case TokenType.Comment:
      return ' ';
    default:
      return plainSign.test(token[1]) ? token[1] : ' ';
  }
}

const plain = (name: string) => (plainName.test(name) ? name : '');

function skipSpace(next: () => CSSToken | undefined): CSSToken | undefined {
  let token = next();
  while (token?.[0] === TokenType.Whitespace || token?.[0] === TokenType.Comment) token = next();
  return token;
}

/** Skips to the end of a function or rule, including nested ones. Returns its replacement. */
function skipTo(next: () => CSSToken | undefined, end: TokenType, instead: string): string {
  let depth = 0;
  for (let token = next(); token && token[0] !== TokenType.EOF; token = next()) {
    const [type] = token;
    if (type === end && depth === 0) return instead;
    if (type === TokenType.Function || type === TokenType.OpenParen || type === TokenType.OpenCurly) depth += 1;
    if (type === TokenType.CloseParen || type === TokenType.CloseCurly) depth -= 1;
    if (depth < 0) return instead;
    // A rule without a semicolon ends with its block.
    if (end === TokenType.Semicolon && type === TokenType.CloseCurly && depth === 0) return instead;
  }
  return instead;
}

function urlOf(value: string, { picture }: CssNames): string {
  const bytes = decodeDataUri(value) ?? picture?.(value);
  const type = bytes && rasterType(bytes);
  return bytes && type ? `url("${toDataUri(type, bytes)}")` : 'none';
}
