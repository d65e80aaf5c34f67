import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { failed, isExplained } from './failures.ts';

/** Below this size any expansion is harmless; above it, content that expands more is a decompression bomb. */
const harmlessBytes = 20_000_000;
const maxExpansion = 100;
const chunkSize = 65_536;

const decoders: Record<string, () => Transform> = {
  gzip: () => createGunzip({ chunkSize }),
  'x-gzip': () => createGunzip({ chunkSize }),
  deflate: () => createInflate({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
  zstd: () => createZstdDecompress({ chunkSize }),
};

/** Metadata that the other side announces, known once the content has been opened. */
export interface Announced {
  name: string;
  mediaType?: string | undefined;
  encoding?: string | undefined;
  size?: number | undefined;
}

/** Decodes content encodings that the other side applied although none was requested. */
export function decoded(chunks: AsyncGenerator<Buffer>, announced: Announced): AsyncGenerator<Buffer> {
  const encodings = (announced.encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity' && name !== 'aws-chunked');
  if (encodings.length === 0 || isPackedItself(announced)) return chunks;
  if (encodings.length > 2) throw failed('The server applied more than two content encodings, which is not supported.');
  return encodings.reduceRight((packed, name) => unpack(packed, name), chunks);
}

/** Detects a mislabelled archive: some servers announce `x.tar.gz` as gzip-encoded, and the user wants the archive. */
function isPackedItself({ name, mediaType = '' }: Announced): boolean {
  return (
    /\.(?:gz|tgz|br|zst|svgz)$/i.test(name) || /^application\/(?:x-)?(?:gzip|gtar|compressed|zstd)/i.test(mediaType)
  );
}

async function* unpack(packed: AsyncGenerator<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = decoders[encoding]?.();
  if (!decoder) throw failed(`The content encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported.`);
  let before = 0;
  let after = 0;
  async function* measured() {
    for await (const chunk of packed) {
      before += chunk.length;
      yield chunk;
    }
  }
  const source = Readable.from(measured());
  source.on('error', (error) => decoder.destroy(error));
  source.pipe(decoder);
  try {
    for await (const chunk of decoder) {
      after += chunk.length;
      if (after > harmlessBytes && after > before * maxExpansion)
        throw failed(
          `The ${encoding} content expands more than ${maxExpansion}-fold when decoded, so it was rejected.`,
        );
      yield chunk;
    }
  } catch (error) {
    if (isExplained(error) || (error instanceof Error && error.name === 'AbortError')) throw error;
    throw failed(`The content is not valid ${encoding}, which the server declares, or it is truncated.`, error);
  } finally {
    source.destroy();
  }
}
