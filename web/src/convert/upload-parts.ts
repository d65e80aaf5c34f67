import { uploadInParts } from '../../../packages/client/src/parts.ts';
import { Transport } from '../../../packages/client/src/transport.ts';

/** Uploads a large file in parts, without those that are stored already. */
export async function uploadParts(
  endpoint: string,
  file: File,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const transport = new Transport({ url: new URL(endpoint).origin });
  const { name, size, lastModified: modified } = file;
  await uploadInParts(
    endpoint,
    { name, size, modified, blob: file },
    {
      signal,
      onProgress: ({ loaded }) => onProgress(loaded / size),
      send: (url, init) =>
        transport.attempt(url, (own) => fetch(url, { ...init(), signal: own }), { signal, timeoutMs: undefined }),
    },
  );
}
