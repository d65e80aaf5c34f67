import type { PdfaFile } from './file.ts';
import { type Dict, Name, Stream, type Value } from './lexer.ts';
import { NotApproved, type Problems } from './problems.ts';

const devices: Record<string, { space: string; fallback: string }> = {
  DeviceGray: { space: 'GRAY', fallback: 'DefaultGray' },
  DeviceRGB: { space: 'RGB ', fallback: 'DefaultRGB' },
  DeviceCMYK: { space: 'CMYK', fallback: 'DefaultCMYK' },
};
const components: Record<string, number> = { GRAY: 1, 'RGB ': 3, 'Lab ': 3, CMYK: 4 };
const maxDepth = 8;

/** Checks color spaces against the profile of the output intent. */
export class ColorCheck {
  readonly #file: PdfaFile;
  readonly #problems: Problems;
  /** The color space of the output intent. */
  readonly #output: string | undefined;
  readonly #seen = new Set<Value>();
  readonly #separations = new Map<string, [alternate: string, tint: Value]>();
  /** Whether a graphics state overprints with mode 1. */
  overprints = false;
  #usesCmykProfile = false;

  constructor(file: PdfaFile, problems: Problems, intents: Value | undefined) {
    this.#file = file;
    this.#problems = problems;
    this.#output = this.#outputSpace(intents);
  }

  #outputSpace(intents: Value | undefined): string | undefined {
    const file = this.#file;
    const [intent, another] = file.array(intents) ?? [];
    const dict = file.dict(intent);
    const profile = file.stream(dict?.get('DestOutputProfile'));
    if (!dict || !profile || another !== undefined || file.name(dict.get('S')) !== 'GTS_PDFA1') {
      this.#problems.add('6.2.2', '6.2.3', 'there is no output intent of PDF/A with a profile');
      return undefined;
    }
    const { device, space } = this.#profile(profile);
    if (!['prtr', 'mntr'].includes(device) || !['GRAY', 'RGB ', 'CMYK'].includes(space))
      this.#problems.add('6.2.2', '6.2.3', 'the profile of the output intent is of another kind');
    return space;
  }

  #profile(stream: Stream): { device: string; space: string } {
    const file = this.#file;
    const data = file.decode(stream);
    const [device, space] = [data.toString('latin1', 12, 16), data.toString('latin1', 16, 20)];
    const version = data[8] ?? 99;
    const isFirst = this.#problems.part === 1;
    if (data.length < 132 || data.readUInt32BE(0) !== data.length || data.toString('latin1', 36, 40) !== 'acsp')
      this.#problems.add('6.2.2', '6.2.3', 'a color profile is damaged');
    if (version >= (isFirst ? 3 : 5)) this.#problems.add('6.2.2', '6.2.3', 'a color profile is of a later version');
    if (file.number(stream.dict.get('N')) !== components[space])
      this.#problems.add('6.2.3.2', '6.2.4.2', 'a color profile has another number of components');
    return { device, space };
  }

  checkDevice(name: string, resources: Dict | undefined): void {
    const device = devices[name];
    if (!device) throw new NotApproved(`the color space ${name}`);
    const fallback = this.#file.dict(resources?.get('ColorSpace'))?.get(device.fallback);
    if (fallback !== undefined) this.#checkSpace(this.#file.get(fallback), undefined, 1);
    else if (this.#output === undefined || (name !== 'DeviceGray' && device.space !== this.#output))
      this.#problems.add('6.2.3.3', '6.2.4.3', `${name} is used, but the output intent has another color space`);
  }

  check(value: Value | undefined, resources: Dict | undefined): void {
    this.#checkSpace(this.#file.get(value), resources, 0);
  }

  #checkSpace(value: Value, resources: Dict | undefined, depth: number): void {
    const file = this.#file;
    if (depth > maxDepth) throw new NotApproved('color spaces nested too deeply');
    if (value instanceof Name) {
      if (value.text in devices) this.checkDevice(value.text, resources);
      else if (value.text !== 'Pattern') {
        const found = file.get(file.dict(resources?.get('ColorSpace'))?.get(value.text));
        if (found === null) throw new NotApproved('a color space that is not in the resources');
        this.#checkSpace(found, resources, depth + 1);
      }
      return;
    }
    if (!Array.isArray(value)) throw new NotApproved('an unknown color space');
    const kind = file.name(value[0]) ?? '';
    const below = (index: number) => this.#checkSpace(file.get(value[index]), resources, depth + 1);
    if (kind in devices || (kind === 'Pattern' && value.length === 1)) {
      this.#checkSpace(new Name(kind), resources, depth + 1);
    } else if (kind === 'Indexed' || kind === 'Pattern') below(1);
    else if (kind === 'ICCBased') this.#checkProfile(file.get(value[1]));
    else if (kind === 'CalGray' || kind === 'CalRGB' || kind === 'Lab') {
      if (file.array(file.dict(value[1])?.get('WhitePoint'))?.length !== 3)
        throw new NotApproved('a color space without a white point');
    } else if (kind === 'Separation' || kind === 'DeviceN') {
      if (kind === 'Separation') this.#checkSeparation(value);
      else this.#checkColorants(value);
      below(2);
    } else throw new NotApproved(`the color space ${kind}`);
  }

  #checkProfile(value: Value): void {
    if (!(value instanceof Stream)) throw new NotApproved('a color profile that is no stream');
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    const { device, space } = this.#profile(value);
    if (!['prtr', 'mntr', 'scnr', 'spac'].includes(device) || components[space] === undefined)
      this.#problems.add('6.2.3.2', '6.2.4.2', 'a color profile is of another kind');
    if (space === 'CMYK') this.#usesCmykProfile = true;
  }

  /** Separations of a name look the same everywhere. */
  #checkSeparation([, colorant, alternate, tint]: Value[]): void {
    const file = this.#file;
    const name = file.name(colorant) ?? '';
    const known = this.#separations.get(name);
    const space = JSON.stringify(file.get(alternate));
    if (known && (known[0] !== space || known[1] !== file.get(tint)))
      this.#problems.add('6.2.3.4', '6.2.4.4', 'separations of a name differ');
    this.#separations.set(name, [space, file.get(tint)]);
  }

  #checkColorants([, names, , , attributes]: Value[]): void {
    const file = this.#file;
    const list = (file.array(names) ?? []).map((name) => file.name(name) ?? '');
    if (list.length < 1 || list.length > 8) throw new NotApproved('a DeviceN color space of too many colorants');
    const colorants = file.dict(file.dict(attributes)?.get('Colorants'));
    if (this.#problems.part > 1 && list.some((name) => name !== 'None' && !colorants?.has(name)))
      this.#problems.add('6.2.3.4', '6.2.4.4', 'a DeviceN color space does not describe its colorants');
    for (const colorant of colorants?.values() ?? []) this.check(colorant, undefined);
  }

  /** Checks what depends on the whole document. */
  finish(): void {
    if (this.overprints && this.#usesCmykProfile)
      this.#problems.add('6.2.3', '6.2.4.2', 'CMYK is overprinted with mode 1');
  }
}
