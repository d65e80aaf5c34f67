import { isDeepStrictEqual } from 'node:util';
import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';
import { maxNodes } from '../signatures.ts';
import { fieldsOf, locksOf, permissionOf, signedFields, storedPages } from './fields.ts';

/** A state of a document: its objects, and where each is stored. */
export interface Revision {
  objects: PdfObjects;
  places: Map<string, string>;
}

/** What was changed, from what is always permitted to what never is. */
export const changeKinds = ['validation', 'forms', 'annotations', 'content'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/**
 * Returns what was changed in a document since a revision. Only changes of known meaning are other than `content`: an object
 * may change if everything that leads to it shows what it is for.
 */
export function changesBetween(old: Revision, now: Revision, signature: PdfDict): Set<ChangeKind> {
  const found = new Set<ChangeKind>();
  const changed = changedObjects(old, now);
  for (const key of ['/Root', '/Encrypt'])
    if (!isDeepStrictEqual(old.objects.trailer[key], now.objects.trailer[key])) found.add('content');
  if (changed.size === 0) return found;
  const roles = rolesOf(old);
  const isLocked = locksOf(signature, old.objects);
  const compare = new Comparison(old.objects, now.objects, isLocked, found);
  for (const reference of changed) {
    const role = roles.get(reference);
    if (role === undefined) found.add('content');
    else compare.object(reference, role);
  }
  return found;
}

function changedObjects(old: Revision, now: Revision): Set<string> {
  const changed = new Set<string>();
  for (const [reference, place] of old.places) {
    if (now.places.get(reference) === place) continue;
    const isSame =
      now.places.has(reference) &&
      !old.objects.isStream(reference) &&
      !now.objects.isStream(reference) &&
      isDeepStrictEqual(old.objects.lookup(reference), now.objects.lookup(reference));
    if (!isSame) changed.add(reference);
  }
  return changed;
}

interface Role {
  kind:
    | 'catalog'
    | 'form'
    | 'fields'
    | 'page'
    | 'annotations'
    | 'validation'
    | 'unused'
    | 'shared'
    | 'field'
    | 'appearance';
  /** Of the field. */
  name: string;
  type: PdfValue;
}

/** Returns what the objects that may change are for. An object with several uses may not. */
function rolesOf({ objects: pdf, places }: Revision): Map<string, Role> {
  const roles = new Map<string, Role>();
  const give = (
    reference: PdfValue | undefined,
    kind: Role['kind'],
    { name = '', type = null }: Partial<Role> = {},
  ) => {
    if (!isReference(reference)) return;
    const known = roles.get(reference);
    if (known && known.kind !== kind) roles.set(reference, { kind: 'shared', name, type });
    else roles.set(reference, { kind, name, type });
  };
  const root = pdf.trailer['/Root'];
  const form = pdf.dict(pdf.catalog['/AcroForm']);
  const uses = usesOf(pdf);
  const single = (reference: PdfValue | undefined, kind: Role['kind']) => {
    if (isReference(reference) && (uses.get(reference) ?? 0) <= 1) give(reference, kind);
  };
  give(root, 'catalog');
  single(pdf.catalog['/AcroForm'], 'form');
  single(form?.['/Fields'], 'fields');
  single(pdf.catalog['/Metadata'], 'validation');
  single(pdf.trailer['/Info'], 'validation');
  for (const reference of reachedOnlyBy(pdf, pdf.catalog['/DSS'], uses)) give(reference, 'validation');
  for (const page of storedPages(pdf)) {
    give(page.reference, 'page');
    single(page.dict['/Annots'], 'annotations');
  }
  for (const field of fieldsOf(pdf)) {
    const { name, type } = field;
    const widgets = pdf.array(field.dict['/Kids']).filter(isReference);
    for (const reference of [field.reference, ...widgets]) {
      give(reference, 'field', { name, type });
      const appearance = pdf.dict(reference)?.['/AP'];
      for (const each of reachedOnlyBy(pdf, appearance, uses)) give(each, 'appearance', { name });
    }
  }
  for (const reference of places.keys()) if (!uses.has(reference)) give(reference, 'unused');
  return roles;
}

/** Counts the references to each object. */
function usesOf(pdf: PdfObjects): Map<string, number> {
  const uses = new Map<string, number>();
  const count = (references: string[]) => {
    for (const each of references) uses.set(each, (uses.get(each) ?? 0) + 1);
  };
  for (const reference of pdf.references) count(pdf.referencesIn(reference));
  count(Object.values(pdf.trailer).filter(isReference));
  return uses;
}

/** Returns the objects that are reached by one value only. */
function reachedOnlyBy(pdf: PdfObjects, value: PdfValue | undefined, uses: Map<string, number>): string[] {
  const within = new Map<string, number>();
  const pending = referencesOf(value);
  for (let next = pending.pop(); next && within.size < maxNodes; next = pending.pop()) {
    const known = within.get(next);
    within.set(next, (known ?? 0) + 1);
    if (known === undefined) pending.push(...pdf.referencesIn(next));
  }
  // What is also used by others drops out, and what only that leads to with it.
  for (let size = -1; size !== within.size; ) {
    size = within.size;
    for (const [reference, count] of within) {
      if ((uses.get(reference) ?? 0) === count) continue;
      within.delete(reference);
      for (const each of pdf.referencesIn(reference)) {
        const left = within.get(each);
        if (left !== undefined) within.set(each, left - 1);
      }
    }
  }
  return [...within.keys()];
}

function referencesOf(value: PdfValue | undefined): string[] {
  if (isReference(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  return isDict(value) ? Object.values(value).flatMap(referencesOf) : [];
}

/** Keys of a field that change when it is filled in or signed. */
const valueKeys = ['/V', '/AP', '/AS', '/I', '/RV', '/DA', '/Q', '/M'];
const signatureKeys = ['/V', '/AP', '/AS', '/F', '/MK', '/DA', '/M'];

class Comparison {
  readonly #old: PdfObjects;
  readonly #now: PdfObjects;
  readonly #isLocked: (name: string) => boolean;
  readonly #found: Set<ChangeKind>;
  /** Widgets of signatures that were added. */
  readonly #added: Map<string, ChangeKind>;

  constructor(old: PdfObjects, now: PdfObjects, isLocked: (name: string) => boolean, found: Set<ChangeKind>) {
    this.#old = old;
    this.#now = now;
    this.#isLocked = isLocked;
    this.#found = found;
    const known = new Set(fieldsOf(old).map(({ reference }) => reference));
    // A certified document must not get a new field that covers its content: it could show anything.
    const isCertified = signedFields(old).some((field) => permissionOf(field.signature, old) !== undefined);
    const isVisible = (reference: string) => {
      const [left, bottom, right, top] = now.array(now.dict(reference)?.['/Rect']);
      return left !== right && bottom !== top;
    };
    this.#added = new Map(
      fieldsOf(now)
        .filter(({ reference, type }) => !known.has(reference) && type === '/Sig')
        .flatMap(({ reference, dict }) => {
          const widgets = [reference, ...now.array(dict['/Kids']).filter(isReference)];
          const kind = isCertified && widgets.some(isVisible) ? 'annotations' : this.#kindOfSignature(dict);
          return widgets.map((each): [string, ChangeKind] => [each, kind]);
        }),
    );
  }

  object(reference: string, role: Role): void {
    const [before, after] = [this.#old.lookup(reference), this.#now.lookup(reference)];
    const checks: Record<Role['kind'], () => void> = {
      catalog: () => this.#catalog(before, after),
      form: () => this.#form(before, after),
      fields: () => this.#fields(before, after),
      page: () => this.#keys(before, after, { '/Annots': (one, other) => this.#annotations(one, other) }),
      annotations: () => this.#annotations(before, after),
      field: () => this.#field(before, after, role),
      appearance: () => this.#report(this.#isLocked(role.name) ? 'content' : 'forms'),
      validation: () => this.#report('validation'),
      unused: () => {},
      shared: () => this.#report('content'),
    };
    checks[role.kind]();
  }

  #report(kind: ChangeKind): void {
    this.#found.add(kind);
  }

  /** Reports changes of a dictionary. Those of other keys than the given ones are content. */
  #keys(
    before: PdfValue,
    after: PdfValue,
    known: Record<string, (before: PdfValue | undefined, after: PdfValue | undefined) => void>,
  ): void {
    if (!isDict(before) || !isDict(after)) {
      this.#report('content');
      return;
    }
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (isDeepStrictEqual(before[key], after[key])) continue;
      const check = known[key];
      if (check) check(before[key], after[key]);
      else this.#report('content');
    }
  }

  #catalog(before: PdfValue, after: PdfValue): void {
    const validation = () => this.#report('validation');
    this.#keys(before, after, {
      '/DSS': validation,
      '/Extensions': validation,
      '/Metadata': validation,
      '/AcroForm': (one, other) => this.#form(this.#old.lookup(one) ?? {}, this.#now.lookup(other)),
    });
  }

  #form(before: PdfValue, after: PdfValue): void {
    const forms = () => this.#report('forms');
    this.#keys(before, after, {
      '/Fields': (one, other) => this.#fields(this.#old.lookup(one), this.#now.lookup(other)),
      // What was there must stay, as the appearance of fields may depend on it.
      '/DR': (one, other) => this.#report(this.#isExtended(one ?? {}, other, 4) ? 'forms' : 'content'),
      '/DA': (one) => this.#report(one === undefined ? 'forms' : 'content'),
      '/SigFlags': forms,
      '/NeedAppearances': forms,
    });
  }

  #isExtended(before: PdfValue | undefined, after: PdfValue | undefined, depth: number): boolean {
    const [one, other] = [this.#old.lookup(before), this.#now.lookup(after)];
    if (isDeepStrictEqual(before, after)) return true;
    if (depth === 0 || !isDict(one) || !isDict(other)) return isDeepStrictEqual(one, other);
    return Object.entries(one).every(([key, value]) => this.#isExtended(value, other[key], depth - 1));
  }

  #fields(before: PdfValue, after: PdfValue): void {
    for (const each of this.#additions(before, after)) this.#report(this.#added.get(String(each)) ?? 'content');
  }

  #annotations(before: PdfValue | undefined, after: PdfValue | undefined): void {
    const added = this.#additions(this.#old.lookup(before), this.#now.lookup(after));
    for (const each of added) this.#report(this.#added.get(String(each)) ?? 'annotations');
  }

  /** Returns the items that were added to a list. If others were changed, that is content. */
  #additions(before: PdfValue, after: PdfValue): PdfValue[] {
    const [one, other] = [before ?? [], after ?? []];
    if (!Array.isArray(one) || !Array.isArray(other)) {
      this.#report('content');
      return [];
    }
    const kept = other.filter((item) => one.some((known) => isDeepStrictEqual(known, item)));
    if (!isDeepStrictEqual(kept, one)) this.#report('content');
    return other.filter((item) => !one.some((known) => isDeepStrictEqual(known, item)));
  }

  #field(before: PdfValue, after: PdfValue, { name, type }: { name: string; type: PdfValue }): void {
    const isSignature = type === '/Sig';
    const wasSigned = isSignature && isDict(before) && this.#old.lookup(before['/V']) !== null;
    const kind =
      wasSigned || this.#isLocked(name)
        ? 'content'
        : isSignature && isDict(after)
          ? this.#kindOfSignature(after)
          : 'forms';
    const keys = isSignature ? signatureKeys : valueKeys;
    this.#keys(before, after, Object.fromEntries(keys.map((key) => [key, () => this.#report(kind)])));
  }

  #kindOfSignature(field: PdfDict): ChangeKind {
    const value = this.#now.dict(field['/V']);
    return this.#now.lookup(value?.['/Type']) === '/DocTimeStamp' ? 'validation' : 'forms';
  }
}
