interface Element {
  tag: number;
  isConstructed: boolean;
  content: Buffer;
  end: number;
}

/** What a file of S/MIME (RFC 8551) is. Anyone can read what is only signed. */
export type Smime = { kind: 'signed'; content: Buffer } | { kind: 'signature' | 'encrypted' };

/** 1.2.840.113549.1.7.2: signed data, and .1: the content itself. */
const signedData = '2a864886f70d010702';
const plainData = '2a864886f70d010701';
/** Enveloped data, encrypted data, and authenticated enveloped data. */
const encrypted = ['2a864886f70d010703', '2a864886f70d010706', '2a864886f70d0109100117'];
const maxDepth = 12;

/** Opens a file of S/MIME. Returns undefined for one that is damaged or of another kind. */
export function openSmime(bytes: Buffer): Smime | undefined {
  const isText = bytes[0] !== 0x30 && /^[\w+/=\s-]+$/.test(bytes.toString('latin1', 0, 200));
  const [whole] = childrenOf(isText ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes);
  const [type, wrapper] = whole ? childrenOf(whole.content) : [];
  const kind = type?.content.toString('hex') ?? '';
  if (encrypted.includes(kind)) return { kind: 'encrypted' };
  if (kind !== signedData || !wrapper) return undefined;
  const [signed] = childrenOf(wrapper.content);
  const [, , inner] = signed ? childrenOf(signed.content) : [];
  const [innerType, content] = inner ? childrenOf(inner.content) : [];
  if (innerType?.content.toString('hex') !== plainData) return undefined;
  return content ? { kind: 'signed', content: Buffer.concat(octets(content.content, 0)) } : { kind: 'signature' };
}

/** Joins the pieces of an octet string, which may be nested. */
function octets(bytes: Buffer, depth: number): Buffer[] {
  if (depth > maxDepth) return [];
  return childrenOf(bytes).flatMap(({ tag, isConstructed, content }) =>
    tag !== 4 ? [] : isConstructed ? octets(content, depth + 1) : [content],
  );
}

/** Splits the content of an element (ITU-T X.690) into the elements in it. */
function childrenOf(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes, at, 0);
    if (!element || element.end <= at || (element.tag === 0 && element.content.length === 0 && !element.isConstructed))
      break;
    found.push(element);
    at = element.end;
  }
  return found;
}

function elementAt(bytes: Buffer, at: number, depth: number): Element | undefined {
  const tag = bytes[at] ?? 0;
  const length = bytes[at + 1];
  if (length === undefined || depth > maxDepth || (tag & 31) === 31) return undefined;
  const shape = { tag: tag & 31, isConstructed: (tag & 32) !== 0 };
  if (length === 0x80) {
    // Of indefinite length: it ends with two zeros after its last element.
    let next = at + 2;
    while (next < bytes.length && (bytes[next] !== 0 || bytes[next + 1] !== 0)) {
      const inner = elementAt(bytes, next, depth + 1);
      if (!inner || inner.end <= next) return undefined;
      next = inner.end;
    }
    return { ...shape, content: bytes.subarray(at + 2, next), end: next + 2 };
  }
  const count = length & 0x80 ? length & 0x7f : 0;
  if (count > 6 || at + 2 + count > bytes.length) return undefined;
  const size = count > 0 ? bytes.readUIntBE(at + 2, count) : length;
  const start = at + 2 + count;
  return { ...shape, content: bytes.subarray(start, start + size), end: Math.min(bytes.length, start + size) };
}
