import type { IncomingMessage } from 'node:http';

/** API Gateway's limit for a request's body. */
const bodyLimitBytes = 10 * 1024 * 1024;

export type ReadBody = { state: 'complete'; bytes: Buffer } | { state: 'too-large' } | { state: 'aborted' };

/** Reads a request's body up to the limit. */
export function readBody(request: IncomingMessage): Promise<ReadBody> {
  if (Number(request.headers['content-length'] ?? 0) > bodyLimitBytes) return Promise.resolve({ state: 'too-large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: ReadBody) => {
      request.off('data', take);
      resolve(outcome);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimitBytes) settle({ state: 'too-large' });
      else chunks.push(chunk);
    };
    request.on('data', take);
    request.once('end', () => settle({ state: 'complete', bytes: Buffer.concat(chunks) }));
    request.once('error', () => settle({ state: 'aborted' }));
    request.once('close', () => settle({ state: 'aborted' }));
  });
}

/**
 * Returns whether a body is text in the event; API Gateway encodes all others in base64. It goes by the type alone, so bytes
 * that are not UTF-8 are lost.
 */
export function isText(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding !== 'identity') return false;
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^(text\/.+|application\/(.+\+)?(json|xml)|application\/javascript)$/.test(type);
}
