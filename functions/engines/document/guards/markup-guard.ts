import { EngineError } from '../../runtime/engine.ts';

/** Real documents nest tens of elements. A thousand overflows the stack of recursive parsers. */
const maxDepth = 500;

/** Encodings in which every markup character is its ASCII byte, so that the guard reads what the importer reads. */
const plainEncodings =
  /^(?:utf-?8|utf-?16(?:le|be)?|us-ascii|ascii|iso-?8859-?\d+|windows-125\d|cp125\d|koi8-[ru]|shift[_-]jis|euc-(?:jp|kr)|gb2312|gbk|gb18030|big5|macintosh)$/i;

const lessThan = 0x3c;
const greaterThan = 0x3e;
const slash = 0x2f;
const bang = 0x21;
const question = 0x3f;
const doubleQuote = 0x22;
const singleQuote = 0x27;
const dash = 0x2d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

type State = 'text' | 'opened' | 'tag' | 'quoted' | 'closing' | 'declaration' | 'comment' | 'cdata' | 'instruction';

/**
 * Scans XML before a parser reads it: rejects custom entities, which a few lines can expand to
 * gigabytes or point at files, and nesting that no document needs.
 */
export class MarkupGuard {
  #state: State = 'text';
  #depth = 0;
  #quote = 0;
  #last = 0;
  #beforeLast = 0;
  #word = '';
  #wide: boolean | undefined;
  #head = '';

  /** Scans the next bytes; throws an EngineError if they are rejected. */
  write(chunk: Uint8Array): void {
    this.#wide ??= chunk.length > 1 && (chunk[0] === 0 || chunk[1] === 0 || (chunk[0] ?? 0) >= 0xfe);
    if (this.#head.length < 200) this.#checkEncoding(chunk);
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index] ?? 0;
      // In UTF-16 every other byte of markup is zero; without the zeros it reads like UTF-8.
      if (byte === 0 && this.#wide) continue;
      this.#step(byte);
      this.#beforeLast = this.#last;
      this.#last = byte;
    }
  }

  #checkEncoding(chunk: Uint8Array): void {
    // UTF-32 without its zeros would look like UTF-8, but readers decode it differently.
    if (
      this.#head === '' &&
      /^(?:\0\0[\0\xfe]|[^\0][^\0]?\0\0)/.test(Buffer.from(chunk.subarray(0, 4)).toString('latin1'))
    )
      throw new EngineError('The encoding UTF-32 is not supported. Save it as UTF-8.');
    this.#head += Buffer.from(chunk.subarray(0, 400)).toString('latin1').replaceAll('\0', '');
    const encoding = /^[^<]*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(this.#head)?.[1];
    if (encoding !== undefined && !plainEncodings.test(encoding))
      throw new EngineError(
        `The encoding ${JSON.stringify(encoding.slice(0, 30))} is not supported. Save it as UTF-8.`,
      );
  }

  #step(byte: number): void {
    switch (this.#state) {
      case 'text':
        if (byte === lessThan) this.#state = 'opened';
        break;
      case 'opened':
        if (byte === slash) this.#state = 'closing';
        else if (byte === question) this.#state = 'instruction';
        else if (byte === bang) {
          this.#state = 'declaration';
          this.#word = '';
        } else if (byte !== lessThan) this.#state = 'tag';
        break;
      case 'tag':
        if (byte === doubleQuote || byte === singleQuote) {
          this.#quote = byte;
          this.#state = 'quoted';
        } else if (byte === greaterThan) {
          this.#state = 'text';
          if (this.#last !== slash) this.#deeper();
        }
        break;
      case 'quoted':
        if (byte === this.#quote) this.#state = 'tag';
        break;
      case 'closing':
        if (byte === greaterThan) {
          this.#depth -= 1;
          this.#state = 'text';
        }
        break;
      case 'instruction':
        if (byte === greaterThan && this.#last === question) this.#state = 'text';
        break;
      case 'comment':
        if (byte === greaterThan && this.#last === dash && this.#beforeLast === dash) this.#state = 'text';
        break;
      case 'cdata':
        if (byte === greaterThan && this.#last === closeBracket && this.#beforeLast === closeBracket)
          this.#state = 'text';
        break;
      case 'declaration':
        this.#declare(byte);
        break;
    }
  }

  #declare(byte: number): void {
    // The brackets of a DOCTYPE contain further declarations.
    if (byte === greaterThan || (byte === openBracket && this.#word.startsWith('DOCTYPE'))) {
      this.#state = 'text';
      return;
    }
    if (this.#word.length < 7) this.#word += String.fromCharCode(byte);
    if (this.#word === '--') this.#state = 'comment';
    else if (this.#word === '[CDATA[') this.#state = 'cdata';
    else if (this.#word === 'ENTITY')
      throw new EngineError('The document declares XML entities, which are not allowed. Save it without them.');
  }

  #deeper(): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new EngineError(`The document nests elements more than ${maxDepth} levels deep.`);
  }
}
