/** Returns a JPEG without comments, EXIF, XMP and profiles; what decoding needs stays. */
export function stripJpeg(file: Buffer): Buffer {
  const parts = [file.subarray(0, 2)];
  let at = 2;
  while (at + 4 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1] ?? 0;
    // From the start of scan on there are only pixels.
    if (marker === 0xda) break;
    const end = at + 2 + file.readUInt16BE(at + 2);
    const isComment = marker === 0xfe;
    // The first application segment is JFIF's, the fourteenth declares how colours are encoded.
    const isMetadata = marker >= 0xe1 && marker <= 0xef && marker !== 0xee;
    if (!isComment && !isMetadata) parts.push(file.subarray(at, end));
    at = end;
  }
  parts.push(file.subarray(at));
  return Buffer.concat(parts);
}
