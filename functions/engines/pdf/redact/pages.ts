import { join } from 'node:path';
import { EngineError } from '../../runtime/engine.ts';
import { runTool } from '../../runtime/pdf-file.ts';
import type { Job } from '../job.ts';
import { type DisplayedPage, displayedPage } from '../marks/geometry.ts';
import type { PdfObjects, PdfValue } from '../objects.ts';
import { appearancesOf, readAppearance, removeAnnotations } from './annotations.ts';
import { type Content, type Findings, type Glyph, readContent, rewriteContent, Shared, touches } from './content.ts';
import { contentsOf } from './contents.ts';
import { cleanDocument } from './document.ts';
import type { Finder } from './find.ts';
import { Blanks, blankSamples } from './images.ts';
import { readingsOf, type Shown, shapesOf } from './reading.ts';
import {
  applied,
  boundsOf,
  box,
  combined,
  contains,
  identity,
  inverse,
  overlap,
  type Point,
  type Shape,
} from './shapes.ts';
import { UnreadableContent, writtenNumber } from './tokens.ts';
import { textsOfPages, wordsOfPage } from './verify.ts';

interface Wanted {
  finder: Finder | undefined;
  /** Areas of each page. */
  areas: Shape[][];
  /** Pages to draw as pictures, by number. */
  pictures: Set<number>;
  label: string | undefined;
}

interface Result {
  /** Of each page. */
  counts: number[];
  /** In bookmarks, metadata and the like. */
  elsewhere: number;
  warnings: string[];
}

const pictureDpi = 200;
/** Share of the characters that may be unknown, such as bullets. */
const maxUnknown = 0.05;
const maxReadWithoutText = 20;

/** Removes what is wanted from the objects of a PDF. */
export class Redaction {
  readonly #pdf: PdfObjects;
  readonly #wanted: Wanted;
  readonly #job: Job;
  readonly #shared = new Shared();
  readonly #blanks: Blanks;
  readonly #others = new Map<string, Findings['others'][number]>();
  readonly #marks = new Set<string>();
  readonly #color: string;

  constructor(pdf: PdfObjects, wanted: Wanted, job: Job) {
    this.#pdf = pdf;
    this.#wanted = wanted;
    this.#job = job;
    this.#blanks = new Blanks(pdf);
    const hex = String(job.work.options.color ?? '#000000');
    this.#color = [1, 3, 5].map((at) => writtenNumber(Number.parseInt(hex.slice(at, at + 2), 16) / 255)).join(' ');
  }

  async run(): Promise<Result> {
    const { finder } = this.#wanted;
    const { pages } = this.#pdf;
    const removeAttachments = this.#job.work.options.attachments !== 'keep';
    const texts = finder ? await textsOfPages(this.#pdf.path, ['-raw'], this.#job) : [];
    const counts: number[] = [];
    const drawn: number[] = [];
    const unsearched: number[] = [];
    let hasMedia = false;
    for (const [index, page] of pages.entries()) {
      const number = index + 1;
      const areas = this.#wanted.areas[index] ?? [];
      const read = this.#wanted.pictures.has(number) ? undefined : this.#read(page, texts[index] ?? '');
      const { count, hidden } = read
        ? this.#rewrite(page, read, areas)
        : await this.#drawAsPicture(page, number, areas);
      if (!read) drawn.push(number);
      if (finder && isUnsearched(read?.findings, texts[index] ?? '', displayedPage(page, this.#pdf)))
        unsearched.push(number);
      const wanted = { finder, areas, hidden, removeAttachments, color: this.#color };
      const annotations = removeAnnotations(page, wanted, this.#pdf, this.#shared);
      hasMedia ||= annotations.hasMedia;
      counts.push(count + annotations.removed);
      this.#job.progress((60 * number) / pages.length);
    }
    await this.#blanks.make(this.#job);
    if (finder) this.#rewriteOthers(finder);
    const removeMetadata = this.#job.work.options.remove_metadata === true;
    const cleaned = cleanDocument(this.#pdf, { finder, removeAttachments, removeMetadata, marks: this.#marks });
    const warnings = [...cleaned.warnings];
    if (hasMedia) warnings.push('Sound, video and 3D were removed, because they cannot be searched.');
    if (drawn.length > 0)
      warnings.push(
        `${pagesText(drawn)} could not be edited exactly, and ${drawn.length > 1 ? 'are pictures' : 'is a picture'} without text now.`,
      );
    if (unsearched.length > 0) {
      const message = `${pagesText(unsearched)} could not be searched: pictures may show text, or characters are not known.`;
      if (this.#job.work.options.if_unreadable !== 'warn')
        throw new EngineError(
          `${message} Run pdf/ocr first. If that finds no text, as in a photo, set if_unreadable to warn, or remove areas.`,
        );
      warnings.push(message);
    }
    return { counts, elsewhere: cleaned.changed, warnings };
  }

  /** Reads a page. Returns undefined if poppler reads more, so that text may be left. */
  #read(page: string, text: string): { content: Content; findings: Findings } | undefined {
    try {
      const content = { bytes: contentsOf(page, this.#pdf), resources: this.#pdf.dict(page)?.['/Resources'] };
      const findings = readContent(content, this.#pdf, this.#shared);
      for (const other of findings.others) this.#others.set(other.reference, other);
      const shown = this.#pdf
        .array(this.#pdf.dict(page)?.['/Annots'])
        .flatMap((annotation) => appearancesOf(this.#pdf.dict(annotation) ?? {}, this.#pdf))
        .map((reference) => readAppearance(reference, this.#pdf, this.#shared));
      return hasAll(text, [findings, ...shown]) ? { content, findings } : undefined;
    } catch (error) {
      if (error instanceof UnreadableContent || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #rewrite(page: string, { content, findings }: { content: Content; findings: Findings }, areas: Shape[]) {
    const matches = this.#wanted.finder ? matchesOf(findings, this.#wanted.finder) : [];
    const byId = new Map(findings.glyphs.map((glyph) => [glyph.id, glyph]));
    const hidden = matches.flatMap((ids) => shapesOf([...ids].flatMap((id) => byId.get(id) ?? [])));
    const shapes = [...areas, ...hidden];
    const ids = new Set(matches.flatMap((each) => [...each]));
    for (const glyph of findings.glyphs) if (isUnder(glyph, areas) || isCovered(glyph, hidden)) ids.add(glyph.id);
    for (const image of findings.images)
      if (shapes.some((shape) => overlap(shape, image.shape, 0.01))) ids.add(image.id);
    const removal = {
      ids,
      shapes,
      blank: (image: Parameters<Blanks['order']>[0], at: Shape[]) => this.#blanks.order(image, at),
    };
    for (const mark of findings.marks)
      if (mark.mcid !== undefined && touches(mark, removal)) this.#marks.add(`${page} ${mark.mcid}`);
    const { bytes, resources } = rewriteContent(content, findings, removal, this.#pdf, this.#shared);
    this.#setContent(page, bytes, resources, shapes);
    return { count: areas.length + matches.length, hidden };
  }

  /** Replaces the content of a page, and draws boxes over it. */
  #setContent(
    page: string,
    content: Buffer,
    resources: { [name: string]: PdfValue | undefined },
    shapes: Shape[],
  ): void {
    const boxes = shapes.map((shape) => {
      const points = shape.map(([x, y], index) => `${writtenNumber(x)} ${writtenNumber(y)} ${index === 0 ? 'm' : 'l'}`);
      return `${points.join(' ')} h f`;
    });
    const fonts = this.#pdf.dict(resources['/Font']) ?? {};
    const all = { ...resources };
    const labels = this.#wanted.label === undefined ? [] : shapes.map((shape) => this.#labelOn(shape));
    if (labels.length > 0)
      all['/Font'] = {
        ...fonts,
        '/RedactedLabel': this.#pdf.add({
          '/Type': '/Font',
          '/Subtype': '/Type1',
          '/BaseFont': '/Helvetica',
          '/Encoding': '/WinAnsiEncoding',
        }),
      };
    const drawing =
      boxes.length > 0 ? `\n/Artifact BMC q ${this.#color} rg ${boxes.join('\n')}\n${labels.join('\n')} Q EMC\n` : '\n';
    const bytes = Buffer.concat([Buffer.from('q\n'), content, Buffer.from(`\nQ${drawing}`, 'latin1')]);
    this.#pdf.update(page, { '/Contents': this.#pdf.addBytes({}, bytes), '/Resources': all, '/Thumb': undefined });
  }

  /** Returns the operations for a label in the middle of a box, in black or white. */
  #labelOn(shape: Shape): string {
    const label = this.#wanted.label ?? '';
    const [first = [0, 0], second = [0, 0], third = [0, 0]] = shape;
    const length = Math.hypot(second[0] - first[0], second[1] - first[1]);
    const height = Math.hypot(third[0] - second[0], third[1] - second[1]);
    const size = Math.min(height * 0.7, length / (label.length * 0.6), 14);
    if (size < 1) return '';
    const [dx, dy] = [(second[0] - first[0]) / length, (second[1] - first[1]) / length];
    const [across, along] = [(height - size * 0.7) / 2, (length - label.length * size * 0.5) / 2];
    const x = first[0] + dx * along - dy * across;
    const y = first[1] + dy * along + dx * across;
    const light = this.#color.split(' ').reduce((sum, each) => sum + Number(each), 0) > 1.5;
    const matrix = [dx * size, dy * size, -dy * size, dx * size, x, y].map(writtenNumber).join(' ');
    return `BT ${light ? '0 g' : '1 g'} /RedactedLabel 1 Tf ${matrix} Tm <${Buffer.from(label, 'latin1').toString('hex')}> Tj ET`;
  }

  /** Replaces a page by its picture without what is under areas and matches. */
  async #drawAsPicture(page: string, number: number, areas: Shape[]): Promise<{ count: number; hidden: Shape[] }> {
    const shown = displayedPage(page, this.#pdf);
    const { finder } = this.#wanted;
    const words = finder ? await wordsOfPage(this.#pdf.path, number, shown.height, this.#job) : [];
    const matches = finder ? merged(readingsOf(words).flatMap((pieces) => finder.find(pieces))) : [];
    const found = matches.flatMap((ids) => shapesOf(words.filter(({ id }) => ids.has(id))));
    const back = inverse(shown.matrix) ?? identity;
    const onPage = [...found, ...areas.map((area) => area.map((point) => applied(back, point)))];
    const { default: sharp } = await import('sharp');
    const file = join(this.#job.folder, `picture-${number}`);
    const dpi = Math.min(pictureDpi, (72 * 10_000) / Math.max(shown.width, shown.height));
    const args = [
      '-f',
      String(number),
      '-l',
      String(number),
      '-r',
      String(dpi),
      '-cropbox',
      '-hide-annotations',
      '-singlefile',
      '-png',
    ];
    await runTool('pdftoppm', [...args, this.#pdf.path, file], this.#job);
    const { data, info } = await sharp(`${file}.png`)
      .removeAlpha()
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    const { width, height } = info;
    const inUnit = onPage.map((shape) => shape.map(([x, y]): Point => [x / shown.width, y / shown.height]));
    blankSamples({ data, width, height, components: 3, bits: 8 }, inUnit, 0);
    const jpeg = await sharp(data, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: 88, chromaSubsampling: '4:4:4' })
      .toBuffer();
    const image = this.#pdf.addBytes(
      {
        '/Type': '/XObject',
        '/Subtype': '/Image',
        '/Width': width,
        '/Height': height,
        '/ColorSpace': '/DeviceRGB',
        '/BitsPerComponent': 8,
        '/Filter': '/DCTDecode',
      },
      jpeg,
    );
    const matrix = combined([shown.width, 0, 0, shown.height, 0, 0], shown.matrix);
    const shapes = onPage.map((shape) => shape.map((point) => applied(shown.matrix, point)));
    const drawing = Buffer.from(`${matrix.map(writtenNumber).join(' ')} cm /Page Do`, 'latin1');
    this.#pdf.update(page, { '/StructParents': undefined });
    this.#setContent(page, drawing, { '/XObject': { '/Page': image } }, shapes);
    const hidden = found.map((shape) => shape.map((point) => applied(shown.matrix, point)));
    return { count: areas.length + matches.length, hidden };
  }

  /** Removes matches from patterns, soft masks and the glyphs of fonts. */
  #rewriteOthers(finder: Finder): void {
    const pending = [...this.#others.values()];
    const seen = new Set<string>();
    for (let next = pending.pop(); next; next = pending.pop()) {
      const { reference, resources, matrix } = next;
      if (seen.has(reference) || !this.#pdf.isStream(reference)) continue;
      seen.add(reference);
      const dict = this.#pdf.dict(reference) ?? {};
      const content = { bytes: this.#pdf.stream(reference), resources: dict['/Resources'] ?? resources, matrix };
      const findings = readOther(content, this.#pdf, this.#shared);
      pending.push(...findings.others);
      const ids = new Set(matchesOf(findings, finder).flatMap((each) => [...each]));
      if (ids.size === 0) continue;
      const removal = { ids, shapes: [], blank: () => '' };
      const made = rewriteContent(content, findings, removal, this.#pdf, this.#shared);
      this.#pdf.setStream(reference, { ...dict, '/Resources': made.resources }, made.bytes);
    }
  }
}

/** Reads a pattern, a soft mask or the glyph of a font. */
function readOther(content: Content, pdf: PdfObjects, shared: Shared): Findings {
  try {
    return readContent(content, pdf, shared);
  } catch (cause) {
    if (!(cause instanceof UnreadableContent)) throw cause;
    throw new EngineError('A pattern, mask or font of the PDF is damaged, so it cannot be searched.', { cause });
  }
}

/** Returns the identifiers of what shows each match. Matches that share something are one. */
function matchesOf({ glyphs, marks }: Findings, finder: Finder): Set<number>[] {
  const found = readingsOf(glyphs).flatMap((pieces) => finder.find(pieces));
  const replaced = marks.filter(({ actualText, from, to }) => actualText !== undefined && to > from);
  if (replaced.length > 0) {
    const spoken = withActualText(glyphs, replaced);
    for (const pieces of readingsOf(spoken.shown).flatMap((each) => finder.find(each)))
      found.push(new Set([...pieces].flatMap((id) => spoken.members.get(id) ?? [id])));
  }
  return merged(found.filter((ids) => ids.size > 0));
}

/** Puts the text that replaces that of marked content in the place of its first character. */
function withActualText(glyphs: Glyph[], marks: Findings['marks']) {
  const members = new Map<number, number[]>();
  const shown: Shown[] = [];
  for (const glyph of glyphs) {
    const mark = marks.find(({ from, to }) => glyph.id >= from && glyph.id < to);
    const first = shown.at(-1);
    const key = mark ? first && members.get(first.id) && first.id >= mark.from && first.id < mark.to : false;
    if (mark && key && first) {
      members.get(first.id)?.push(glyph.id);
      first.end = glyph.end;
    } else if (mark) {
      members.set(glyph.id, [glyph.id]);
      shown.push({ ...glyph, text: mark.actualText });
    } else shown.push(glyph);
  }
  return { shown, members };
}

function merged(found: Set<number>[]): Set<number>[] {
  const groups: Set<number>[] = [];
  const ofId = new Map<number, Set<number>>();
  for (const ids of found) {
    const target = new Set(ids);
    for (const id of ids) {
      const known = ofId.get(id);
      if (!known || known === target) continue;
      for (const each of known) target.add(each);
      known.clear();
    }
    for (const id of target) ofId.set(id, target);
    groups.push(target);
  }
  return groups.filter((ids) => ids.size > 0);
}

/** Returns whether a character is under areas by more than its margin. */
function isUnder({ shape, size }: Glyph, areas: Shape[]): boolean {
  return areas.some((area) => overlap(area, shape, 0.12 * size));
}

/** Returns whether most of a character is where text is removed, such as its shadow. */
function isCovered({ shape }: Glyph, hidden: Shape[]): boolean {
  const { left, bottom, right, top } = boundsOf(shape);
  const center: Point = [(left + right) / 2, (bottom + top) / 2];
  return hidden.some((each) => contains(each, center));
}

const ignored = /[\s\p{P}\p{S}\p{M}\p{C}]/gu;

/** Returns whether we read all characters that poppler reads. */
function hasAll(text: string, findings: Findings[]): boolean {
  const own = new Map<string, number>();
  const add = (given: string) => {
    for (const each of given.normalize('NFKC').replace(ignored, '')) own.set(each, (own.get(each) ?? 0) + 1);
  };
  for (const { glyphs, marks } of findings) {
    for (const glyph of glyphs) add(glyph.text ?? '');
    for (const { actualText } of marks) add(actualText ?? '');
  }
  for (const each of text.normalize('NFKC').replace(ignored, '')) {
    const left = (own.get(each) ?? 0) - 1;
    if (left < 0) return false;
    own.set(each, left);
  }
  return true;
}

/** Returns whether a page may show text that was not searched. */
function isUnsearched(findings: Findings | undefined, text: string, page: DisplayedPage): boolean {
  if (!findings) return text.trim() === '';
  const { glyphs, images, paths } = findings;
  const unknown = glyphs.filter((glyph) => glyph.text === undefined).length;
  if (unknown > Math.max(2, glyphs.length * maxUnknown)) return true;
  if (glyphs.length === 0 && (images.length > 0 || paths > 20)) return true;
  const { left, bottom, right, top } = boundsOf(
    box(0, 0, page.width, page.height).map((point) => applied(page.matrix, point)),
  );
  return images.some(({ shape }) => {
    const each = boundsOf(shape);
    const width = Math.min(each.right, right) - Math.max(each.left, left);
    const height = Math.min(each.top, top) - Math.max(each.bottom, bottom);
    if (width <= 0 || height <= 0 || width * height < 0.5 * (right - left) * (top - bottom)) return false;
    return glyphs.filter((glyph) => overlap(glyph.shape, shape)).length < maxReadWithoutText;
  });
}

function pagesText(pages: number[]): string {
  const some = pages.slice(0, 20).join(', ');
  return `${pages.length > 1 ? 'Pages' : 'Page'} ${some}${pages.length > 20 ? ', …' : ''}`;
}
