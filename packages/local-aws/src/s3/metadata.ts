import { S3Error } from './error.ts';
import type { Metadata } from './store.ts';

const maxUserMetadataBytes = 2 * 1024;
/** The headers that are stored with an object, and that a signed request may override in its response. */
export const systemMetadata = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

/** Returns the metadata to store, from the headers of a request or the fields of a form. */
export function metadataOf(
  entries: Iterable<[string, unknown]>,
  encode: (value: string, isUserMetadata: boolean) => string = (value) => value,
): Metadata {
  const metadata: Metadata = {};
  let userBytes = 0;
  for (const [name, value] of entries) {
    const isUserMetadata = name.startsWith('x-amz-meta-');
    if (typeof value !== 'string' || !(isUserMetadata || systemMetadata.includes(name))) continue;
    metadata[name] = encode(value, isUserMetadata);
    if (isUserMetadata) userBytes += name.length - 'x-amz-meta-'.length + Buffer.byteLength(value);
  }
  if (userBytes > maxUserMetadataBytes)
    throw new S3Error('MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size');
  return metadata;
}
