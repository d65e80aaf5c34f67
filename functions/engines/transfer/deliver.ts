import { Readable } from 'node:stream';
import { outputKey } from '../../../shared/files/keys.ts';
import { uniqueNames } from '../../../shared/files/names.ts';
import { newToken } from '../../../shared/files/objects.ts';
import { copyObject, streamObject } from '../../../shared/files/streams.ts';
import type { JsonObject, StoredFile } from '../../../shared/tasks/task.ts';
import { EngineError } from '../engine.ts';
import type { Run, RunResult } from '../worker.ts';
import { explainConnection, failed, InputUnreadable, Transient } from './failures.ts';
import { type Patience, usualPatience } from './patience.ts';
import { readSteadily, type Source } from './steady-read.ts';

/** A file on its way to a store. */
export interface Outgoing {
  /** Key, name or path in the store. */
  place: string;
  size: number;
  contentType: string;
  contentDisposition?: string | undefined;
  /** Opens the content, from a byte on; it ends whole or breaks with an error. */
  open(offset?: number): Readable;
}

/** Names of the parameters that say where files go: one place for one file, or what the names of several begin with. */
export interface PlaceFields {
  one: string;
  several: string;
}

/**
 * Sends the input's files to a store, one after the other, and returns where they are. The task keeps copies, so that
 * it has a link like every other and may be the input of another.
 */
export async function deliver(
  run: Run,
  fields: PlaceFields,
  send: (outgoing: Outgoing) => Promise<{ location: string }>,
  patience: Patience = usualPatience,
): Promise<RunResult> {
  const files = run.inputs.flatMap((input) => input.files);
  const places = placesOf(run.parameters, files, fields);
  const total = files.reduce((sum, file) => sum + file.size, 0);
  let sent = 0;
  const locations: JsonObject[] = [];
  for (const [index, file] of files.entries()) {
    const { content_type, content_disposition } = run.parameters;
    const { location } = await lastAttempt(send, {
      place: places[index] ?? file.name,
      size: file.size,
      contentType: typeof content_type === 'string' ? content_type : file.mediaType,
      contentDisposition: typeof content_disposition === 'string' ? content_disposition : undefined,
      open: (offset = 0) =>
        Readable.from(
          ownContent(file, offset, patience, run.signal, (bytes) => {
            sent += bytes;
            run.progress((sent / Math.max(1, total)) * 100);
          }),
          { objectMode: false, highWaterMark: 256 * 1024 },
        ),
    });
    locations.push({ filename: file.name, size: file.size, location });
  }
  return { files: await keepCopies(run, files), details: { locations } };
}

/** Ends the task on what stays broken: whoever sends has tried again already. */
async function lastAttempt<T>(send: (outgoing: Outgoing) => Promise<T>, outgoing: Outgoing): Promise<T> {
  try {
    return await send(outgoing);
  } catch (error) {
    throw error instanceof Transient ? failed(error.message, error) : error;
  }
}

function placesOf(parameters: JsonObject, files: StoredFile[], { one, several }: PlaceFields): string[] {
  if (files.length === 0) throw new EngineError('The input tasks have no file to export.');
  const place = parameters[one];
  if (typeof place !== 'string') {
    const prefix = String(parameters[several] ?? '');
    return uniqueNames(files.map((file) => file.name)).map((name) => `${prefix}${name}`);
  }
  if (files.length > 1)
    throw failed(`The input has ${files.length} files, which cannot all go to one ${one}. Give ${several} instead.`);
  return [place];
}

/** Reads a file of the service's own bucket, which is worth going on with after a dropped connection too. */
async function* ownContent(
  file: StoredFile,
  from: number,
  patience: Patience,
  signal: AbortSignal,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const source: Source = {
    async open(offset, openSignal) {
      return { stream: await streamObject(file.key, openSignal, from + offset), size: file.size - from };
    },
    explain: (error) =>
      explainConnection(error, 'the bucket of the service') ??
      new InputUnreadable(`The stored file ${file.key} could not be read.`, { cause: error }),
  };
  if (from >= file.size) return;
  for await (const chunk of readSteadily(source, patience, signal)) {
    count(chunk.length);
    yield chunk;
  }
}

function keepCopies(run: Run, files: StoredFile[]): Promise<StoredFile[]> {
  return Promise.all(
    files.map(async (file, index): Promise<StoredFile> => {
      const key = outputKey(run.task.id, run.attempt, index);
      await copyObject(file, key, run.signal);
      return { ...file, key, token: newToken() };
    }),
  );
}
