import type { Format } from '../types.ts';

/** Kinds of formats by their media types; the first that matches counts. */
const patterns = {
  Images: /^image\/|\/dicom$/,
  Video: /^video\/|rn-realmedia|mxf|shockwave/,
  Audio: /^audio\/|smaf/,
  'E-books': /epub|mobipocket|amazon|fictionbook|ms-reader|sony-bbeb|vnd\.palm|comicbook|x-cb|x-(?:html|txt)z/,
  Archives:
    /\/(?:x-)?(?:zip|gzip|7z|tar|bzip2|xz|zstd|lzma|lzh|compress|archive|arj|cpio|rpm|xar|ms-wim|iso9660|xpinstall)|rar$|\.(?:package-archive|debian|ms-cab|squashfs)|java-archive/,
  Documents: /(?:)/,
};

export const kinds = Object.keys(patterns);

/** Returns the kind of a format. */
export function kindOf({ media_type }: Format): string | undefined {
  return Object.entries(patterns).find(([, pattern]) => pattern.test(media_type))?.[0];
}
