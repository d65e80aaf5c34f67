import type { Logger } from '@aws-lambda-powertools/logger';
import { deleteKeys, putObject, readObject } from '../../../shared/aws/objects.ts';
import { detectFile } from '../../../shared/catalogue/detect.ts';
import { outputKey } from '../../../shared/files/keys.ts';
import { maxInstantBytes } from '../../../shared/files/limits.ts';
import { totalBytes } from '../../../shared/files/total-bytes.ts';
import { newId } from '../../../shared/ids.ts';
import { type PictureRequest, pictureFormats } from '../../../shared/pictures/picture.ts';
import { RecentValues } from '../../../shared/recent-values.ts';
import { newMeter } from '../../../shared/tasks/meter.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { NoEngineFree, TaskError } from '../../invocation/errors.ts';
import { planPicture } from '../../invocation/plan-run.ts';
import { timeLimitsOf } from '../creation/time-limits.ts';
import { HttpError } from '../http/errors.ts';
import { perform, withinPlace } from '../instant/perform.ts';
import type { InputFile } from '../instant/work.ts';
import type { ImageKey } from './image-keys.ts';
import { type FoundSource, fetchableUrl, nameOf } from './sources.ts';

const engine = 'image';
/** Larger than photos and scans, and small enough for the memory of a function. */
const maxSourceBytes = 25_000_000;
const maxWatermarkBytes = 1_000_000;

/** A derivative: in memory or, if it is too large for a response, under a key of the bucket. */
export type Derivative = { format: string } & ({ bytes: Uint8Array } | { key: string });

/** A derivative under a key of the bucket, for other requests. */
export interface StoredDerivative {
  format: string;
  key: string;
  isLarge: boolean;
}

export interface Derivation {
  key: ImageKey;
  source: FoundSource;
  /** The watermark of the key, if the URL asks for it. */
  watermark: FoundSource | undefined;
  picture: PictureRequest;
}

/** Makes a derivative within one of the places that the account has for instant conversions. */
export async function derive(derivation: Derivation, deadline: number, logger: Logger): Promise<Derivative> {
  const task = await taskFor(derivation.key);
  const stored: string[] = [];
  const left = new AbortController();
  try {
    // Fetched while the place is being taken. Without a place, the download is aborted.
    const signal = AbortSignal.any([left.signal, AbortSignal.timeout(Math.max(0, deadline - Date.now()))]);
    const fetching = picturesOf(derivation, signal);
    fetching.catch(() => {});
    return await withinPlace(task.user, deadline, async (place) => {
      const { picture } = derivation;
      const [source, ...others] = await fetching;
      if (picture.spec.raw) return await asDerivative(task, source);
      const inputs = await fitting(task, [source, ...others]);
      stored.push(...inputs.flatMap(({ key }) => key || []));
      const planned = () => planPicture(engine, picture, inputs);
      const { file } = await perform({ engine, task, secrets: [] }, planned, { place, deadline, logger });
      return file;
    });
  } catch (error) {
    if (error instanceof NoEngineFree) throw allBusy(error);
    throw error instanceof HttpError && error.status === 504 ? tooSlow(error) : error;
  } finally {
    left.abort();
    await deleteKeys(stored);
  }
}

/** Returns the task that usage and engine time are counted by. It is never written. */
async function taskFor({ id: key, user }: ImageKey): Promise<Task> {
  const now = new Date().toISOString();
  const meter = newMeter('convert', await timeLimitsOf({ user, limits: {} })) ?? {};
  return {
    ...{ id: newId(), user, key, name: 'picture', operation: 'convert', status: 'created', payload: {}, meter },
    ...{ dependsOn: [], dependents: [], files: [], attempt: 0, version: 1 },
    ...{ createdAt: now, updatedAt: now, expiresAt: now },
  };
}

type Picture = InputFile & { bytes: Uint8Array };

async function picturesOf(
  { key, source, watermark, picture: { spec } }: Derivation,
  signal: AbortSignal,
): Promise<[Picture, ...Picture[]]> {
  const maxBytes = Math.min(spec.limits.maxSrcFileSize || maxSourceBytes, maxSourceBytes);
  return Promise.all([
    fetched(source, maxBytes, signal),
    ...(watermark && !spec.raw ? [watermarkOf(key.id, watermark, signal)] : []),
  ]);
}

const watermarks = new RecentValues<Picture>({ milliseconds: 60_000, max: 20 });

async function watermarkOf(keyId: string, source: FoundSource, signal: AbortSignal): Promise<Picture> {
  const known = watermarks.get(keyId);
  if (known) return known;
  const watermark = await fetched(source, maxWatermarkBytes, signal);
  watermarks.set(keyId, watermark);
  return watermark;
}

async function fetched(source: FoundSource, maxBytes: number, signal: AbortSignal): Promise<Picture> {
  const bytes = await download(await fetchableUrl(source), maxBytes, signal);
  const name = nameOf(source);
  const { format } = await detectFile(catalogue, bytes, name);
  const known = catalogue.canonical(format);
  if (!pictureFormats.some((each) => each === known))
    throw new HttpError(422, 'unsupported_source', 'The source is not an image of a supported format.');
  const mediaType = catalogue.mediaType(known);
  return { key: '', name: `source.${known}`, size: bytes.byteLength, format: known, mediaType, token: '', bytes };
}

async function download(url: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  // A request that waits for another does not need the module, which takes time to load.
  const { downloadUrl } = await import('../../transfers/import-url.ts');
  try {
    return await downloadUrl(url, maxBytes, signal);
  } catch (error) {
    if (signal.aborted) throw tooSlow(error);
    if (error instanceof TaskError)
      throw new HttpError(404, 'source_unavailable', `The source cannot be fetched. ${error.message}`, {
        cause: error,
      });
    throw error;
  }
}

/** Stores the pictures that do not fit into one invocation, the source first. */
async function fitting(task: Task, pictures: Picture[]): Promise<InputFile[]> {
  let left = totalBytes(pictures);
  return Promise.all(
    pictures.map(async ({ bytes, ...file }, index) => {
      if (left <= maxInstantBytes) return { ...file, bytes };
      left -= file.size;
      const key = outputKey(task.id, 0, index);
      await putObject(key, bytes, file.mediaType);
      return { ...file, key };
    }),
  );
}

async function asDerivative({ id }: Task, { bytes, format, mediaType }: Picture): Promise<Derivative> {
  if (bytes.byteLength <= maxInstantBytes) return { format, bytes };
  const key = outputKey(id, 1, 0);
  await putObject(key, bytes, mediaType);
  return { format, key };
}

/** Stores a derivative for other requests. The sweep deletes it. */
export async function storeDerivative(derivative: Derivative): Promise<StoredDerivative> {
  const { format } = derivative;
  if ('key' in derivative) return { format, key: derivative.key, isLarge: true };
  const key = outputKey(newId(), 1, 0);
  await putObject(key, derivative.bytes, catalogue.mediaType(format));
  return { format, key, isLarge: false };
}

/** Reads a derivative that another request has stored. */
export async function readDerivative({ format, key, isLarge }: StoredDerivative): Promise<Derivative> {
  return isLarge ? { format, key } : { format, bytes: await readObject(key) };
}

/** Returns the error response for a derivative that takes longer than a request may. */
export function tooSlow(cause?: unknown): HttpError {
  return new HttpError(504, 'engine_timeout', 'The image could not be fetched and processed in time. Retry later.', {
    cause,
  });
}

function allBusy(cause: unknown): HttpError {
  return new HttpError(503, 'unavailable', 'All engines are busy. Retry in a few seconds.', {
    headers: { 'Retry-After': '3' },
    cause,
  });
}
