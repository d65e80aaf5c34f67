import { createWriteStream, openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { EngineError } from './engine.ts';
import { maxPostBytes, type OutputForm } from './protocol.ts';

const attempts = 4;
const firstBackoffMs = 100;

/** A response of S3 that the next attempt may not get. */
class TransferError extends Error {
  override name = 'TransferError';
}

/** Fetches a signed URL to a file on disk. */
export function fetchFile(url: string, path: string, signal: AbortSignal): Promise<void> {
  return retried(signal, async () => {
    const response = await fetch(url, { signal });
    await check(response);
    if (!response.body) throw new TransferError('S3 responded without a body.');
    await pipeline(Readable.fromWeb(response.body), createWriteStream(path), { signal });
  });
}

/** Stores a file from disk by a signed form. */
export async function postFile(path: string, key: string, form: OutputForm, signal: AbortSignal): Promise<void> {
  const file = await openAsBlob(path);
  if (file.size > maxPostBytes)
    throw new EngineError(`The output is larger than ${maxPostBytes / 1024 ** 3} GB, the maximum of one file.`);
  await retried(signal, async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...form.fields, key })) body.set(name, value);
    // S3 ignores the fields that come after the file.
    body.set('file', file);
    await check(await fetch(form.url, { method: 'POST', body, signal }));
  });
}

async function check(response: Response): Promise<void> {
  if (response.ok) return;
  const text = (await response.text()).slice(0, 500);
  const message = `S3 responded with status ${response.status}: ${text}`;
  throw response.status >= 500 || response.status === 429 ? new TransferError(message) : new Error(message);
}

/** Repeats a transfer that a lost connection or an overloaded store broke off. */
async function retried<T>(signal: AbortSignal, transfer: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transfer();
    } catch (error) {
      signal.throwIfAborted();
      if (attempt === attempts || !isTransient(error)) throw error;
      await wait(Math.random() * firstBackoffMs * 2 ** attempt, undefined, { signal });
    }
  }
}

function isTransient(error: unknown): boolean {
  // fetch reports a refused or lost connection as a TypeError with the error of the socket as its cause.
  return error instanceof TransferError || error instanceof TypeError || hasSocketCode(error);
}

function hasSocketCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:ECONN|EPIPE|ETIMEDOUT|UND_ERR)/.test(String(error.code));
}
