/** Signatures of raster images, which contain no references. */
const rasters: [mediaType: string, start: RegExp][] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['image/bmp', /^BM[\s\S]{4}\0\0\0\0/],
  ['image/tiff', /^(?:II\*\0|MM\0\*)/],
];

/** Returns the media type of a raster image. */
export function rasterType(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 16);
  return rasters.find(([, pattern]) => pattern.test(start))?.[0];
}

/** LibreOffice looks for an SVG's first tag in the first two kilobytes. */
const searchedBytes = 8192;

/** Returns whether bytes are an SVG or SVGZ, which can reference other files. */
export function isVector(bytes: Buffer): boolean {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return true;
  const start = bytes.subarray(0, searchedBytes).toString('latin1').replaceAll('\0', '');
  return /<(?:[^\s<>:]{1,50}:)?svg[\s/>]|<!DOCTYPE\s+(?:[^\s<>:]{1,50}:)?svg/i.test(start);
}

const metafileStarts = ['\xd7\xcd\xc6\x9a', '\x01\0\x09\0', '\x02\0\x09\0'];

/**
 * Returns whether bytes are a container that is not searched and may contain an SVG for LibreOffice: a compound file, or a
 * metafile with pictures of any format.
 */
export function isOpaque(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 44);
  if (start.startsWith('\xd0\xcf\x11\xe0')) return true;
  if (start.startsWith('\x01\0\0\0') && start.endsWith(' EMF')) return bytes.includes('EMF+');
  return metafileStarts.some((mark) => start.startsWith(mark)) && bytes.includes('WMFC');
}

/** Decodes a data URI like readers do: ignores white space, and decodes base64 if declared. */
export function decodeDataUri(uri: string): Buffer | undefined {
  const [, parameters, data] = /^\s*data:([^,]{0,200}),([\s\S]*)$/i.exec(uri) ?? [];
  if (parameters === undefined || data === undefined) return undefined;
  if (/;\s*base64\s*$/i.test(parameters)) return Buffer.from(data, 'base64');
  try {
    return Buffer.from(decodeURIComponent(data));
  } catch {
    return undefined;
  }
}

/** Writes a picture as a data URI in canonical form. */
export function toDataUri(mediaType: string, bytes: Buffer): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}
