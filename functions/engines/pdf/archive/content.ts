import type { ColorCheck } from './color.ts';
import type { PdfaFile } from './file.ts';
import { codesOf, type FontUse } from './fonts.ts';
import { Bytes, type Dict, Keyword, Lexer, Name, Stream, type Value } from './lexer.ts';
import { NotApproved, type Problems } from './problems.ts';

/** The operators of content streams. */
export const operators = new Set(
  (
    'b B b* B* BDC BI BMC BT BX c cm CS cs d d0 d1 Do DP EI EMC ET EX f F f* G g gs h i ID j J K k l m M MP n q Q ' +
    're RG rg ri s S SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y \' "'
  ).split(' '),
);
const stateKeys = new Set(
  'Type LW LC LJ ML D RI Font FL SM SA BM CA ca SMask AIS TK OP op OPM TR2 BG BG2 UCR UCR2'.split(' '),
);
const formKeys = new Set(
  'Type Subtype FormType BBox Matrix Resources Group StructParent StructParents Length Filter DecodeParms LastModified Name OC DL'.split(
    ' ',
  ),
);
const imageKeys = new Set(
  'Type Subtype Width Height ColorSpace BitsPerComponent Intent ImageMask Mask Decode Interpolate SMask SMaskInData Name StructParent ID Length Filter DecodeParms OC DL Matte ColorTransform'.split(
    ' ',
  ),
);
const blendModes = new Set(
  'Normal Compatible Multiply Screen Overlay Darken Lighten ColorDodge ColorBurn HardLight SoftLight Difference Exclusion Hue Saturation Color Luminosity'.split(
    ' ',
  ),
);
const intents = ['RelativeColorimetric', 'AbsoluteColorimetric', 'Perceptual', 'Saturation'];
const inlineFilters = new Set(
  'AHx A85 Fl RL CCF DCT ASCIIHexDecode ASCII85Decode FlateDecode RunLengthDecode CCITTFaxDecode DCTDecode'.split(' '),
);
const inlineColors: Record<string, string> = { G: 'DeviceGray', RGB: 'DeviceRGB', CMYK: 'DeviceCMYK', I: 'Indexed' };
const maxSaved = 28;
const maxDepth = 30;

interface State {
  font: FontUse | undefined;
  mode: number;
}

/** Checks content streams with what they use. */
export class ContentCheck {
  readonly fonts = new Map<Dict, FontUse>();
  readonly #file: PdfaFile;
  readonly #problems: Problems;
  readonly #color: ColorCheck;
  readonly #seen = new Set<object>();

  constructor(file: PdfaFile, problems: Problems, color: ColorCheck) {
    this.#file = file;
    this.#problems = problems;
    this.#color = color;
  }

  #add(first: string, later: string, message: string): void {
    this.#problems.add(first, later, message);
  }

  /** Checks the content of a page or a stream with its own resources. */
  check(data: Buffer, resources: Dict | undefined, depth = 0): void {
    if (depth > maxDepth) throw new NotApproved('content nested too deeply');
    const file = this.#file;
    const lexer = new Lexer(data, file.limits);
    const operands: Value[] = [];
    const saved: State[] = [];
    let state: State = { font: undefined, mode: 0 };
    for (let item = lexer.value(false); item !== undefined; item = lexer.value(false)) {
      if (!(item instanceof Keyword)) {
        operands.push(item);
        if (operands.length > 1_000) throw new NotApproved('operator with too many operands');
        continue;
      }
      const [first] = operands;
      const last = operands.at(-1);
      const resource = (kind: string): Value => this.#resource(resources, kind, last);
      if (!operators.has(item.text)) this.#add('6.2.10', '6.2.2', `unknown operator ${item.text.slice(0, 20)}`);
      switch (item.text) {
        case 'q':
          saved.push({ ...state });
          if (saved.length > maxSaved) this.#add('6.1.12', '6.1.13', `more than ${maxSaved} nested graphics states`);
          break;
        case 'Q':
          state = saved.pop() ?? { font: undefined, mode: 0 };
          break;
        case 'Tr':
          state.mode = typeof first === 'number' ? first : -1;
          if (![0, 1, 2, 3, 4, 5, 6, 7].includes(state.mode)) throw new NotApproved('unknown text rendering mode');
          break;
        case 'Tf':
          state.font = this.#fontUse(this.#resource(resources, 'Font', first), depth);
          break;
        case 'Tj':
        case "'":
        case '"':
          this.#show(last, state);
          break;
        case 'TJ':
          for (const each of Array.isArray(first) ? first : []) if (typeof each !== 'number') this.#show(each, state);
          break;
        case 'gs': {
          const found = file.dict(resource('ExtGState'));
          if (!found) throw new NotApproved('a graphics state that is missing');
          this.#checkState(found, depth);
          const font = file.array(found.get('Font'));
          if (font) state.font = this.#fontUse(font[0] ?? null, depth);
          break;
        }
        case 'g':
        case 'G':
          this.#color.checkDevice('DeviceGray', resources);
          break;
        case 'rg':
        case 'RG':
          this.#color.checkDevice('DeviceRGB', resources);
          break;
        case 'k':
        case 'K':
          this.#color.checkDevice('DeviceCMYK', resources);
          break;
        case 'cs':
        case 'CS':
          this.#color.check(last ?? null, resources);
          break;
        case 'scn':
        case 'SCN':
          if (last instanceof Name) this.#checkPattern(resource('Pattern'), depth);
          break;
        case 'sh':
          this.#checkShading(resource('Shading'));
          break;
        case 'ri':
          this.#checkIntent(last);
          break;
        case 'Do':
          this.#checkObject(resource('XObject'), resources, depth);
          break;
        case 'BDC':
        case 'DP':
          if (last instanceof Name) resource('Properties');
          break;
        case 'BI':
          this.#inlineImage(lexer, resources);
          break;
      }
      operands.length = 0;
    }
    if (operands.length > 0) throw new NotApproved('operands without an operator');
    if (saved.length > 0) throw new NotApproved('content that does not restore its graphics state');
  }

  #resource(resources: Dict | undefined, kind: string, name: Value | undefined): Value {
    const file = this.#file;
    const found = name instanceof Name ? file.get(file.dict(resources?.get(kind))?.get(name.text)) : null;
    if (found === null) throw new NotApproved(`a ${kind} that is not in the resources`);
    return found;
  }

  #fontUse(value: Value, depth: number): FontUse {
    const font = this.#file.dict(value);
    if (!font) throw new NotApproved('a font that is missing');
    const known = this.fonts.get(font);
    if (known) return known;
    const use: FontUse = { font, visible: new Set(), hidden: new Set() };
    this.fonts.set(font, use);
    if (this.#file.name(font.get('Subtype')) === 'Type3') this.#checkGlyphs(font, depth);
    return use;
  }

  #checkGlyphs(font: Dict, depth: number): void {
    const file = this.#file;
    const resources = file.dict(font.get('Resources'));
    for (const each of file.dict(font.get('CharProcs'))?.values() ?? []) {
      const stream = file.stream(each);
      if (!stream) throw new NotApproved('a glyph that is no stream');
      this.check(file.decode(stream), resources, depth + 1);
    }
  }

  #show(text: Value | undefined, { font, mode }: State): void {
    if (!(text instanceof Bytes) || !font) throw new NotApproved('text without a font');
    const codes = mode === 3 ? font.hidden : font.visible;
    for (const code of codesOf(font.font, text.text, this.#file)) codes.add(code);
  }

  #checkIntent(value: Value | undefined): void {
    const intent = this.#file.get(value);
    if (intent !== null && !(intent instanceof Name && intents.includes(intent.text)))
      this.#add('6.2.9', '6.2.6', 'unknown rendering intent');
  }

  #checkState(state: Dict, depth: number): void {
    if (this.#seen.has(state)) return;
    this.#seen.add(state);
    const file = this.#file;
    for (const key of state.keys())
      if (!stateKeys.has(key)) this.#add('6.2.8', '6.2.5', `a graphics state has the key ${key}`);
    if (state.has('TR2') && file.name(state.get('TR2')) !== 'Default')
      this.#add('6.2.8', '6.2.5', 'a graphics state has a transfer function');
    this.#checkIntent(state.get('RI'));
    const isFirst = this.#problems.part === 1;
    for (const key of ['CA', 'ca']) {
      const alpha = state.has(key) ? file.number(state.get(key)) : 1;
      if (alpha === undefined || (isFirst && alpha !== 1)) this.#add('6.4', '6.2.10', 'transparency is used');
    }
    const modes = state.has('BM') ? file.get(state.get('BM')) : null;
    for (const mode of Array.isArray(modes) ? modes : modes === null ? [] : [modes]) {
      const name = file.name(mode) ?? '';
      if (isFirst ? name !== 'Normal' && name !== 'Compatible' : !blendModes.has(name))
        this.#add('6.4', '6.2.10', `the blend mode ${name} is used`);
    }
    if (isFirst && Array.isArray(modes)) this.#add('6.4', '6.2.10', 'a list of blend modes is used');
    const overprints = file.get(state.get('OP')) === true || file.get(state.get('op')) === true;
    if (overprints && file.number(state.get('OPM')) === 1) this.#color.overprints = true;
    const mask = file.get(state.get('SMask'));
    if (mask === null || (mask instanceof Name && mask.text === 'None')) return;
    if (isFirst) this.#add('6.4', '6.2.10', 'a soft mask is used');
    if (!(mask instanceof Map)) throw new NotApproved('an unknown soft mask');
    this.#checkObject(file.get(mask.get('G')), undefined, depth);
  }

  #checkPattern(pattern: Value, depth: number): void {
    const file = this.#file;
    const dict = file.dict(pattern);
    if (!dict) throw new NotApproved('a pattern that is missing');
    if (this.#seen.has(dict)) return;
    this.#seen.add(dict);
    if (pattern instanceof Stream && file.number(dict.get('PatternType')) === 1)
      this.check(file.decode(pattern), file.dict(dict.get('Resources')), depth + 1);
    else if (file.number(dict.get('PatternType')) === 2) {
      this.#checkShading(dict.get('Shading'));
      const state = file.dict(dict.get('ExtGState'));
      if (state) this.#checkState(state, depth);
    } else throw new NotApproved('an unknown pattern');
  }

  #checkShading(value: Value | undefined): void {
    const shading = this.#file.dict(value);
    if (!shading) throw new NotApproved('a shading that is missing');
    this.#color.check(shading.get('ColorSpace') ?? null, undefined);
  }

  /** Checks an XObject, or the appearance of an annotation. */
  #checkObject(value: Value, resources: Dict | undefined, depth: number): void {
    if (!(value instanceof Stream)) throw new NotApproved('an XObject that is no stream');
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    const subtype = this.#file.name(value.dict.get('Subtype'));
    if (subtype === 'Form') this.checkForm(value, depth);
    else if (subtype === 'Image') this.#checkImage(value, resources);
    else this.#add('6.2.7', '6.2.9', `an XObject of the type ${subtype}`);
  }

  /** Checks a form XObject or an appearance with its content. */
  checkForm(form: Stream, depth = 0): void {
    const file = this.#file;
    for (const key of form.dict.keys())
      if (!formKeys.has(key)) this.#add('6.2.5', '6.2.9', `a form XObject has the key ${key}`);
    this.checkGroup(form.dict);
    this.check(file.decode(form), file.dict(form.dict.get('Resources')), depth + 1);
  }

  checkGroup(dict: Dict): void {
    const group = this.#file.dict(dict.get('Group'));
    if (!group) return;
    if (this.#problems.part === 1) this.#add('6.4', '6.2.10', 'a transparency group is used');
    const color = group.get('CS');
    if (color !== undefined) this.#color.check(color, undefined);
  }

  #checkImage({ dict, raw }: Stream, resources: Dict | undefined): void {
    const file = this.#file;
    for (const key of dict.keys()) if (!imageKeys.has(key)) this.#add('6.2.4', '6.2.8', `an image has the key ${key}`);
    this.#checkPicture(dict, resources, file.filters(dict), raw);
    const isFirst = this.#problems.part === 1;
    const soft = file.get(dict.get('SMask'));
    if (soft !== null) {
      if (isFirst) this.#add('6.4', '6.2.10', 'an image has a soft mask');
      this.#checkObject(soft, undefined, 0);
    }
    const mask = file.get(dict.get('Mask'));
    if (mask instanceof Stream) this.#checkObject(mask, undefined, 0);
    else if (mask !== null && !Array.isArray(mask)) throw new NotApproved('an image with an unknown mask');
  }

  #checkPicture(dict: Dict, resources: Dict | undefined, filters: string[], raw: Buffer): void {
    const file = this.#file;
    const isFirst = this.#problems.part === 1;
    const interpolates = file.get(dict.get('Interpolate'));
    if (interpolates !== null && interpolates !== false) this.#add('6.2.4', '6.2.8', 'an image is interpolated');
    this.#checkIntent(dict.get('Intent'));
    const isMask = file.get(dict.get('ImageMask')) === true;
    const bits = file.number(dict.get('BitsPerComponent'));
    const isJpx = filters.includes('JPXDecode');
    if (
      isMask
        ? bits !== undefined && bits !== 1
        : !(isJpx && bits === undefined) && ![1, 2, 4, 8, ...(isFirst ? [] : [16])].includes(bits ?? 0)
    )
      this.#add('6.2.4', '6.2.8', 'an image has another number of bits');
    if (isJpx) checkJpx(raw, isFirst);
    if (isMask) return;
    const color = dict.get('ColorSpace');
    // A JPEG 2000 picture that is approved has a color space of its own, which is gray or sRGB.
    if (color === undefined && !isJpx) throw new NotApproved('an image without a color space');
    if (color !== undefined) this.#color.check(color, resources);
  }

  #inlineImage(lexer: Lexer, resources: Dict | undefined): void {
    const given = lexer.dict(false, 0, 'ID');
    const long: Record<string, string> = {
      W: 'Width',
      H: 'Height',
      BPC: 'BitsPerComponent',
      CS: 'ColorSpace',
      IM: 'ImageMask',
      I: 'Interpolate',
      F: 'Filter',
      D: 'Decode',
      DP: 'DecodeParms',
    };
    const dict: Dict = new Map([...given].map(([key, value]) => [long[key] ?? key, value]));
    const filters = this.#file.filters(dict);
    for (const filter of filters)
      if (!inlineFilters.has(filter)) this.#add('6.1.10', '6.1.10', `an inline image has the filter ${filter}`);
    const color = dict.get('ColorSpace');
    const rename = (value: Value): Value =>
      value instanceof Name
        ? new Name(inlineColors[value.text] ?? value.text)
        : Array.isArray(value)
          ? value.map(rename)
          : value;
    if (color !== undefined) dict.set('ColorSpace', rename(color));
    const { data } = lexer;
    const start = lexer.at + 1;
    const end = /[\t\n\f\r ]EI(?=[\t\n\f\r ]|$)/g;
    const rest = data.toString('latin1', start);
    const found = end.exec(rest);
    if (!found) throw new NotApproved('an inline image without an end');
    lexer.at = start + found.index + found[0].length;
    this.#checkPicture(dict, resources, [], data.subarray(start, start + found.index));
  }
}

/** Checks the header of a JPEG 2000 picture. Only plain ones are approved. */
function checkJpx(data: Buffer, isFirst: boolean): void {
  if (isFirst) throw new NotApproved('a JPEG 2000 picture');
  const signature = '\0\0\0\x0cjP  \r\n\x87\n';
  if (data.toString('latin1', 0, 12) !== signature) throw new NotApproved('a JPEG 2000 picture without boxes');
  const boxes = (from: Buffer) => {
    const list: { type: string; body: Buffer }[] = [];
    for (let at = 0; at + 8 <= from.length; ) {
      const length = from.readUInt32BE(at) || from.length - at;
      if (length < 8 || at + length > from.length) throw new NotApproved('a damaged JPEG 2000 picture');
      list.push({ type: from.toString('latin1', at + 4, at + 8), body: from.subarray(at + 8, at + length) });
      at += length;
    }
    return list;
  };
  const header = boxes(data).find(({ type }) => type === 'jp2h');
  const inner = header ? boxes(header.body) : [];
  const size = inner.find(({ type }) => type === 'ihdr')?.body;
  const colors = inner.filter(({ type }) => type === 'colr').map(({ body }) => body);
  const [color] = colors;
  const isPlain =
    size?.length === 14 &&
    [1, 3].includes(size.readUInt16BE(8)) &&
    size[10] === 7 &&
    inner.every(({ type }) => ['ihdr', 'colr', 'res '].includes(type)) &&
    colors.length === 1 &&
    color?.[0] === 1 &&
    [16, 17].includes(color.readUInt32BE(3));
  if (!isPlain) throw new NotApproved('a JPEG 2000 picture that is not plain gray or RGB');
}
