/** Limits of S3, and the limits of our own that follow from them. */

const mebibyte = 1024 ** 2;

/** Maximum size of an object, part or copy in one request. Larger files are stored in parts. */
export const maxRequestBytes = 5 * 1024 ** 3;

/** Minimum size of a part, except the last. */
export const minPartBytes = 5 * mebibyte;

/** Maximum number of parts of an object. */
export const maxParts = 10_000;

/** Maximum number of blocks of a blob in Azure. */
export const maxBlocks = 50_000;

/**
 * The maximum of all files in an instant request or response: Lambda's 6 MB, in base64, with room for the rest of the event.
 */
export const maxInstantBytes = 4_400_000;

/** Says what to do with files above that. */
export const adviceOnLargeFiles =
  'Send a larger file by url, or upload it with import/upload and send the id of that task as input.';

/** Bodies above this size do not fit into an event of Lambda, in base64. */
export const maxBinaryBodyBytes = 4_700_000;

/** The highest value of the setting maxFileBytes: 10,000 parts of 96 MiB. Two such parts fit into a small function. */
export const maxConfigurableFileBytes = 1_000_000_000_000;

/** The size of the parts in which a larger object is copied: S3 copies one in seconds, and many concurrently. */
export const copyPartBytes = 512 * mebibyte;

/** The part size for clients that declare the size of their file: few requests, and little to repeat after a failure. */
const clientPartBytes = 16 * mebibyte;

/**
 * How far clients that do not declare a size may be ahead of the parts that S3 has. Their URLs do not limit the size of a
 * part, so the limit of the file is checked against the stored parts each time.
 */
export const maxUncheckedParts = 32;

/** Returns the size of parts in which a file can be stored: the minimum of S3, or whole MiB if that makes too many. */
export function partBytesFor(size: number, parts: number = maxParts): number {
  return Math.max(minPartBytes, Math.ceil(size / parts / mebibyte) * mebibyte);
}

/** Returns the size of the parts in which a client uploads a file of a declared size. */
export function clientPartBytesFor(size: number): number {
  return Math.max(clientPartBytes, partBytesFor(size));
}
