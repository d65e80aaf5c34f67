/** Encodes as RFC 3986 and SigV4 require, which is stricter than encodeURIComponent. */
export function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes a key as a URL path. */
export function encodeKey(key: string): string {
  return key.split('/').map(encodeRfc3986).join('/');
}
