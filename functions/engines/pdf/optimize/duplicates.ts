import { createHash } from 'node:crypto';
import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';

const maxRounds = 6;
/** Kinds of objects that may be shared. Pages, annotations and tags have a place of their own. */
const shareable = ['/Font', '/FontDescriptor', '/ExtGState', '/Encoding', '/CMap', '/XObject', '/Pattern', '/Metadata'];

/** Makes one object of those that are the same: fonts, pictures and forms that were embedded several times. */
export function dropDuplicates(pdf: PdfObjects): void {
  for (let round = 0; round < maxRounds; round++) {
    const first = new Map<string, string>();
    const same = new Map<string, string>();
    const all = [...pdf.reachable()].toSorted((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
    for (const reference of all) {
      const key = keyOf(reference, pdf);
      if (key === undefined) continue;
      const known = first.get(key);
      if (known === undefined) first.set(key, reference);
      else same.set(reference, known);
    }
    if (same.size === 0) return;
    for (const reference of all) {
      const value = pdf.lookup(reference);
      const changed = replaced(value, same);
      if (changed !== value) pdf.set(reference, changed);
    }
  }
}

function keyOf(reference: string, pdf: PdfObjects): string | undefined {
  const dict = pdf.dict(reference);
  if (!dict || dict['/StructParent'] !== undefined || dict['/StructParents'] !== undefined) return undefined;
  const isStream = pdf.isStream(reference);
  const type = String(
    dict['/Type'] ?? (dict['/Subtype'] === '/Image' || dict['/Subtype'] === '/Form' ? '/XObject' : ''),
  );
  if (isStream ? type !== '' && !shareable.includes(type) : !shareable.includes(type)) return undefined;
  const { '/Length': _, ...rest } = dict;
  const text = JSON.stringify(Object.entries(rest).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  if (!isStream) return text;
  return `${text} ${createHash('sha256').update(pdf.stream(reference)).digest('hex')}`;
}

/** Returns a value with references replaced: the same one if there are none. */
function replaced(value: PdfValue, same: Map<string, string>): PdfValue {
  if (isReference(value)) return same.get(value) ?? value;
  if (Array.isArray(value)) {
    const made = value.map((each) => replaced(each, same));
    return made.some((each, index) => each !== value[index]) ? made : value;
  }
  if (!isDict(value)) return value;
  const made: PdfDict = {};
  let isChanged = false;
  for (const [key, each = null] of Object.entries(value)) {
    made[key] = replaced(each, same);
    isChanged ||= made[key] !== each;
  }
  return isChanged ? made : value;
}
