/** An item, or a part of one, in DynamoDB's own form. */
export type AttributeMap = Record<string, unknown>;

/** Overhead of a list or map, and of each of its elements. */
const collectionBytes = 3;
const elementBytes = 1;
const maxNumberBytes = 21;

/**
 * Returns the size of an item as DynamoDB counts it: the UTF-8 lengths of its attributes' names and values. See
 * "DynamoDB item sizes and formats" in its developer guide.
 */
export function itemBytes(item: AttributeMap): number {
  return sum(Object.entries(item), ([name, value]) => (value === undefined ? 0 : utf8(name) + valueBytes(value)));
}

function valueBytes(value: unknown): number {
  const [[type, content] = ['', undefined]] = Object.entries(Object(value));
  if (type === 'S') return utf8(content);
  if (type === 'N') return numberBytes(content);
  if (type === 'B') return binaryBytes(content);
  if (type === 'BOOL' || type === 'NULL') return 1;
  if (type === 'SS') return sum(listOf(content), utf8);
  if (type === 'NS') return sum(listOf(content), numberBytes);
  if (type === 'BS') return sum(listOf(content), binaryBytes);
  if (type === 'L') return collectionBytes + sum(listOf(content), (element) => elementBytes + valueBytes(element));
  if (type === 'M') {
    const map: AttributeMap = Object(content);
    return collectionBytes + elementBytes * Object.keys(map).length + itemBytes(map);
  }
  throw new Error(`Expected a value of a type of DynamoDB but received one of type ${type}`);
}

/** A byte for every two significant digits, one more, and one for a sign. */
function numberBytes(value: unknown): number {
  const text = String(value);
  const [mantissa = ''] = text.toLowerCase().split('e');
  const digits = mantissa.replace(/[-+.]/g, '').replace(/^0+/, '').replace(/0+$/, '').length;
  return Math.min(maxNumberBytes, Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0));
}

function binaryBytes(value: unknown): number {
  return Buffer.byteLength(String(value), 'base64');
}

function utf8(value: unknown): number {
  return Buffer.byteLength(String(value));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function sum<T>(values: T[], sizeOf: (value: T) => number): number {
  return values.reduce((total, value) => total + sizeOf(value), 0);
}
