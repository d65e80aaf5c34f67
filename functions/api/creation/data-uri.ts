/** Decodes `data:<media_type>;base64,<data>`, or returns the problem with it. */
export function decodeDataUri(uri: string): { bytes: Uint8Array } | { error: string } {
  const comma = uri.indexOf(',');
  const header = comma < 0 ? '' : uri.slice(0, comma);
  if (!/^data:[^,]*;base64$/i.test(header)) {
    return { error: 'Expected a data URI of the form data:<media_type>;base64,<data>.' };
  }
  const data = uri.slice(comma + 1).replace(/\s+/g, '');
  const digits = data.replace(/={1,2}$/, '');
  // Padding is optional but must be correct if present: a truncated string would decode to a damaged file.
  const padded = digits.length === data.length || data.length % 4 === 0;
  if (!/^[A-Za-z0-9+/_-]*$/.test(digits) || digits.length % 4 === 1 || !padded) {
    return { error: 'The data after the comma is not valid base64.' };
  }
  const bytes = Buffer.from(data, 'base64');
  return bytes.byteLength > 0 ? { bytes } : { error: 'The file is empty.' };
}
