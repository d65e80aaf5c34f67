import { posix } from 'node:path';
import type { Content, Picture } from './model.ts';
import { rasterPicture } from './pictures.ts';
import { all, child, type Element, elements, parseXml } from './xml.ts';

export type Parts = Map<string, Buffer>;

interface Relation {
  type: string;
  /** Path of a part, or an address. */
  target: string;
  external: boolean;
}

/** A part of an office document, and the parts that it refers to. */
export class Part {
  readonly path: string;
  readonly root: Element;
  readonly #parts: Parts;
  readonly #relations = new Map<string, Relation>();

  constructor(parts: Parts, path: string) {
    this.#parts = parts;
    this.path = path;
    const bytes = parts.get(path);
    this.root = parseXml(bytes ?? '');
    const relations = parts.get(posix.join(posix.dirname(path), '_rels', `${posix.basename(path)}.rels`));
    if (!relations) return;
    for (const { attributes } of all(child(parseXml(relations), 'Relationships'), 'Relationship')) {
      const { Id = '', Type = '', Target = '', TargetMode } = attributes;
      const external = TargetMode === 'External';
      const target = external ? Target : resolve(path, Target);
      this.#relations.set(Id, { type: Type.split('/').at(-1) ?? '', target, external });
    }
  }

  /** Returns the part of a relation, or undefined if there is none. */
  part(id: string | undefined): Part | undefined {
    const target = this.#target(id, false);
    return target !== undefined && this.#parts.has(target) ? new Part(this.#parts, target) : undefined;
  }

  /** Returns the first part of a type. */
  ofType(type: string): Part | undefined {
    for (const [id, relation] of this.#relations) if (relation.type === type) return this.part(id);
    return undefined;
  }

  bytes(id: string | undefined): Buffer | undefined {
    const target = this.#target(id, false);
    return target === undefined ? undefined : this.#parts.get(target);
  }

  address(id: string | undefined): string | undefined {
    return this.#target(id, true);
  }

  #target(id: string | undefined, external: boolean): string | undefined {
    const relation = id === undefined ? undefined : this.#relations.get(id);
    return relation?.external === external ? relation.target : undefined;
  }
}

function resolve(path: string, target: string): string {
  return target.startsWith('/') ? posix.normalize(target).slice(1) : posix.join(posix.dirname(path), target);
}

/** Opens the main part of a package, which its relations name. */
export function mainPart(parts: Parts): Part {
  return new Part(parts, '').ofType('officeDocument') ?? new Part(parts, 'word/document.xml');
}

/** Returns the title in the properties of a package. */
export function titleOf(parts: Parts): Pick<Content, 'title'> {
  const properties = elements(parseXml(parts.get('docProps/core.xml') ?? ''))[0];
  const [title] = child(properties, 'dc:title')?.children ?? [];
  return typeof title === 'string' && title.trim() !== '' ? { title: title.trim() } : {};
}

/** Collects the pictures of a document, each once. */
export class Pictures {
  readonly list: Picture[] = [];
  readonly #known = new Map<Buffer, number | undefined>();

  /** Returns the number of a picture, or undefined if its format is unknown. */
  add(bytes: Buffer | undefined): number | undefined {
    if (!bytes) return undefined;
    if (this.#known.has(bytes)) return this.#known.get(bytes);
    const picture = rasterPicture(bytes);
    const place = picture ? this.list.push(picture) - 1 : undefined;
    this.#known.set(bytes, place);
    return place;
  }
}
