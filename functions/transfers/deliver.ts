import { Readable } from 'node:stream';
import { newToken } from '../../shared/aws/objects.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { outputKey } from '../../shared/files/keys.ts';
import { partBytesFor } from '../../shared/files/limits.ts';
import { uniqueNames } from '../../shared/files/names.ts';
import { totalBytes } from '../../shared/files/total-bytes.ts';
import { filesAtOnce, maxResultBytes, resultBytes } from '../../shared/tasks/limits.ts';
import type { JsonObject, StoredFile } from '../../shared/tasks/task.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import { checkFileCount } from '../engines/runtime/outputs.ts';
import type { Run, RunResult } from '../worker/worker.ts';
import { copyFile } from './copy-file.ts';
import { extract, type Piece } from './extract.ts';
import { explainConnection, failed, InputUnreadable, Transient } from './failures.ts';
import type { Taken } from './outbound.ts';
import { PaceWatch } from './pace.ts';
import { type PartStore, storeInParts } from './parts.ts';
import type { TransferSettings } from './receive.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { readSteadily, type Source } from './steady-read.ts';
import { streamObject } from './streams.ts';

/** A file to send to a store. */
export interface Outgoing {
  /** Key, name or path in the store. */
  place: string;
  size: number;
  contentType: string;
  contentDisposition?: string | undefined;
  /** Aborted with the run, or when the store accepts the file too slowly. */
  signal: AbortSignal;
  /** Opens the content at an offset. The stream fails if the content is incomplete. */
  open(offset?: number): Readable;
}

export interface Destination {
  /** The parameters for the location of a single file, and for the prefix of several. */
  one: string;
  several: string;
  /** Returns the displayed URL of a location. */
  locate(place: string): string;
  send(outgoing: Outgoing): Promise<void>;
  /** Translates an error of sending into one of the service, unless `send` does. */
  explain?(error: unknown): Error;
  /** Bytes that the store has accepted so far, over all files, counted by the writer. */
  taken: Taken;
}

/**
 * Sends the input's files to a store one by one, and returns their locations. The task keeps copies, so that it has links
 * and can be an input like any other task.
 */
export async function deliver(
  run: Run,
  destination: Destination,
  { retryPolicy, pace }: Pick<TransferSettings, 'retryPolicy' | 'pace'>,
): Promise<RunResult> {
  const stored = run.inputs.flatMap((input) => input.files);
  const places = placesOf(run.parameters, stored, destination);
  checkFileCount(stored.length, 'Split the inputs across several tasks.');
  const locations = stored.map(({ name, size }, index) => ({
    filename: name,
    size,
    location: destination.locate(places[index] ?? name),
  }));
  checkRecord(run, stored, { locations }, destination);
  const [zip] = stored;
  const isExtracted = run.parameters.extract === true && zip !== undefined;
  const files = isExtracted
    ? await extract(zip, run.signal)
    : stored.map((file) => ({ ...file, start: async () => 0 }));
  const total = totalBytes(files);
  let sent = 0;
  for (const [index, file] of files.entries()) {
    const { content_type, content_disposition } = run.parameters;
    const before = destination.taken.bytes;
    let counted = before;
    const watch = new PaceWatch(pace, run.signal, 'accepted', (meter) => {
      const { bytes } = destination.taken;
      meter.count(bytes - counted);
      counted = bytes;
      if (bytes - before >= file.size) meter.expectSilence();
    });
    await lastAttempt(destination, {
      place: isExtracted ? `${places[0]}${file.name}` : (places[index] ?? file.name),
      size: file.size,
      contentType: typeof content_type === 'string' ? content_type : file.mediaType,
      contentDisposition: typeof content_disposition === 'string' ? content_disposition : undefined,
      signal: watch.signal,
      open: (offset = 0) =>
        Readable.from(
          ownContent(file, offset, retryPolicy, watch, (bytes) => {
            sent += bytes;
            run.progress((sent / Math.max(1, total)) * 100);
          }),
          { objectMode: false, highWaterMark: 256 * 1024 },
        ),
    }).finally(() => watch.stop());
  }
  return { files: await keepCopies(run, stored), details: { locations } };
}

/** Fails the task on persistent errors: the sender has already retried. */
async function lastAttempt(destination: Destination, outgoing: Outgoing): Promise<void> {
  try {
    await destination.send(outgoing);
  } catch (error) {
    // Libraries throw their own errors for an aborted request.
    outgoing.signal.throwIfAborted();
    const explained = destination.explain?.(error) ?? error;
    throw explained instanceof Transient ? failed(explained.message, explained) : explained;
  }
}

/** Sends a file in parts, larger ones if the store does not accept enough of them. */
export async function sendInParts(
  store: PartStore,
  { open, size, signal }: Pick<Outgoing, 'open' | 'size' | 'signal'>,
  maxParts: number,
): Promise<void> {
  const body = open();
  try {
    const options = { partBytes: partBytesFor(size, maxParts), partsAtOnce: 4, signal };
    await storeInParts(store, body, options);
  } finally {
    body.destroy();
  }
}

function placesOf(parameters: JsonObject, files: StoredFile[], { one, several }: Destination): string[] {
  if (files.length === 0) throw new EngineError('The input tasks have no file to export.');
  const place = parameters[one];
  if (parameters.extract === true) {
    if (files.length > 1 || typeof place === 'string')
      throw failed(`extract takes a single ZIP and requires ${several} instead of ${one}.`);
    return [String(parameters[several] ?? '')];
  }
  if (typeof place !== 'string') {
    const prefix = String(parameters[several] ?? '');
    return uniqueNames(files.map((file) => file.name)).map((name) => `${prefix}${name}`);
  }
  if (files.length > 1)
    throw failed(`The input has ${files.length} files, which cannot share one ${one}. Set ${several} instead.`);
  return [place];
}

/** Rejects files that the task could not record, with their locations, before anything is sent. */
function checkRecord(run: Run, files: StoredFile[], details: JsonObject, { several }: Destination): void {
  const copies = files.map((file, index) => ({ ...file, key: outputKey(run.task.id, run.attempt, index) }));
  if (resultBytes(copies, details) > maxResultBytes)
    throw failed(
      `The names of the ${files.length} files are too long to be stored with the task. Shorten ${several} or split the inputs across several tasks.`,
    );
}

/** Reads a file of the service's bucket, and resumes after dropped connections. */
async function* ownContent(
  file: Piece,
  from: number,
  retryPolicy: RetryPolicy,
  { meter, signal }: PaceWatch,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let start: number | undefined;
  const source: Source = {
    async open(offset, openSignal) {
      start ??= await file.start(openSignal);
      const stream = await streamObject(file.key, openSignal, start + from + offset, start + file.size);
      return { stream, size: file.size - from };
    },
    explain: (error) =>
      explainConnection(error, 'the bucket of the service') ??
      new InputUnreadable(`The stored file ${file.key} could not be read.`, { cause: error }),
  };
  if (from >= file.size) return;
  try {
    meter.ourTurn();
    for await (const chunk of readSteadily(source, retryPolicy, signal)) {
      count(chunk.length);
      meter.itsTurn();
      yield chunk;
      meter.ourTurn();
    }
  } finally {
    meter.itsTurn();
  }
}

function keepCopies(run: Run, files: StoredFile[]): Promise<StoredFile[]> {
  return mapAtOnce(files, filesAtOnce, async (file, index): Promise<StoredFile> => {
    const key = outputKey(run.task.id, run.attempt, index);
    await copyFile(file, key, run.signal);
    return { ...file, key, token: newToken() };
  });
}
