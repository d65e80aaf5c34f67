/** Proves that a request came through the stack's distribution. Other clients cannot claim another address. */
export const distributionHeader = 'x-lathe-distribution';

/** The path of an image URL as the client sent it, from the stack's distribution. API Gateway decodes paths. */
export const picturePathHeader = 'lathe-picture-path';

/** Returns the Accept header of a request for an image, reduced to what matters, so that a cache has three variants of it. */
export function pictureAccept(accept = ''): string {
  if (accept.indexOf('image/avif') >= 0) return 'image/avif,image/webp';
  return accept.indexOf('image/webp') >= 0 ? 'image/webp' : '*/*';
}
