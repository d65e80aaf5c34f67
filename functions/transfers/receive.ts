import { Readable } from 'node:stream';
import mime from 'mime';
import { formatProblem, sizeProblem } from '../../shared/accounts/limits.ts';
import { newToken } from '../../shared/aws/objects.ts';
import { detectFile, detectionBytes } from '../../shared/catalogue/detect.ts';
import { outputKey } from '../../shared/files/keys.ts';
import { extensionOf, safeName, withExtension } from '../../shared/files/names.ts';
import { parseAllowHosts } from '../../shared/net/addresses.ts';
import { maxFileBytesOf } from '../../shared/tasks/limits.ts';
import type { StoredFile } from '../../shared/tasks/task.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import { settings as deployment } from '../wiring/settings.ts';
import type { Run } from '../worker/worker.ts';
import { type Announced, decoded } from './decode.ts';
import { failed, insufficientPermission } from './failures.ts';
import type { Outbound } from './outbound.ts';
import { defaultPace, type Pace } from './pace.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retry-policy.ts';
import { readSteadily, type Source, startingOver } from './steady-read.ts';
import { storeStream } from './streams.ts';

/** Limits and outbound policy of transfers. Tests use shorter timeouts and their own resolver. */
export interface TransferSettings {
  retryPolicy: RetryPolicy;
  pace: Pace;
  outbound: Outbound;
  maxFileBytes: number;
}

/** Returns the settings for transfers of this deployment. */
export function deploymentSettings(): TransferSettings {
  return {
    retryPolicy: defaultRetryPolicy,
    pace: defaultPace,
    outbound: { allow: parseAllowHosts(process.env.LATHE_ALLOW_HOSTS) },
    maxFileBytes: deployment.maxFileBytes,
  };
}

export interface Incoming extends Source {
  /** Known once the content has been opened. */
  announced: Announced;
}

/** What of a run the receipt of a file needs. */
export type Receiving = Pick<Run, 'task' | 'attempt' | 'parameters' | 'signal' | 'progress'>;

/** Stores received content as the n-th file of a run, in parts and up to the size limit. */
export function receive(
  run: Receiving,
  index: number,
  incoming: Incoming,
  settings: TransferSettings,
  /** Reports progress over all files of a run. */
  count?: (bytes: number) => void,
  partsAtOnce?: number,
): Promise<StoredFile> {
  const { retryPolicy, pace } = settings;
  const { limits = {} } = run.task;
  const maxBytes = maxFileBytesOf(run.task, settings);
  const tooLarge = (bytes: number) => {
    const msg = bytes > settings.maxFileBytes ? undefined : sizeProblem(limits, bytes);
    return msg === undefined
      ? failed(`The file is larger than ${settings.maxFileBytes} bytes, the maximum of this service.`)
      : insufficientPermission(msg);
  };
  return startingOver(retryPolicy, run.signal, async () => {
    const contents = contentsOf(incoming, { retryPolicy, pace }, run.signal, { maxBytes, tooLarge }, (chunk, total) => {
      const { size } = incoming.announced;
      if (count) count(chunk);
      else if (size) run.progress((total / size) * 100);
    });
    const { head, rest } = await peek(contents);
    const { announced } = incoming;
    const requestedName = run.parameters.filename;
    const name = typeof requestedName === 'string' ? safeName(requestedName) : safeName(announced.name);
    const { format, content } = await detectFile(catalogue, head, name);
    const fullName = typeof requestedName === 'string' ? name : withKnownExtension(name, format, announced.mediaType);
    const knownFormat = format || catalogue.canonical(extensionOf(fullName));
    const forbidden = formatProblem(limits, catalogue.canonical(knownFormat));
    if (forbidden !== undefined) throw insufficientPermission(forbidden);
    const mediaType = catalogue.mediaType(knownFormat);
    const key = outputKey(run.task.id, run.attempt, index);
    // Only the size of what is stored as it is sent is known.
    const { size: sent = maxBytes, encoding } = announced;
    const size = await storeStream(Readable.from(rest, { objectMode: false }), key, mediaType, {
      maxBytes: encoding ? maxBytes : Math.min(sent, maxBytes),
      signal: run.signal,
      partsAtOnce,
    });
    return { key, name: fullName, size, format: knownFormat, content, mediaType, token: newToken() };
  });
}

/** A size, and the error for content that is larger. */
interface SizeLimit {
  maxBytes: number;
  tooLarge(bytes: number): Error;
}

/** Reads content up to a size, decoded. Reports each chunk that is received. */
function contentsOf(
  incoming: Incoming,
  { retryPolicy, pace }: Pick<TransferSettings, 'retryPolicy' | 'pace'>,
  runSignal: AbortSignal,
  { maxBytes, tooLarge }: SizeLimit,
  count: (chunk: number, total: number) => void = () => {},
): AsyncGenerator<Buffer> {
  const capped: Source = {
    explain: (error) => incoming.explain(error),
    async open(offset, signal) {
      const opened = await incoming.open(offset, signal);
      if (opened.size === undefined || opened.size <= maxBytes) return opened;
      opened.stream.on('error', () => undefined).destroy();
      throw tooLarge(opened.size);
    },
  };
  const raw = counted(readSteadily(capped, retryPolicy, runSignal, pace), count);
  return counted(decodeAnnounced(raw, incoming), (_chunk, total) => {
    if (total > maxBytes) throw tooLarge(total);
  });
}

/** Reads content into memory, up to a size. */
export function receiveBytes(
  incoming: Incoming,
  settings: TransferSettings,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const tooLarge = () => failed(`It is larger than ${maxBytes.toLocaleString('en')} bytes, the maximum.`);
  return startingOver(settings.retryPolicy, signal, async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of contentsOf(incoming, settings, signal, { maxBytes, tooLarge })) chunks.push(chunk);
    return Buffer.concat(chunks);
  });
}

async function* decodeAnnounced(raw: AsyncGenerator<Buffer>, incoming: Incoming): AsyncGenerator<Buffer> {
  // The announced metadata is known only once the first bytes have arrived.
  const first = await raw.next();
  async function* all() {
    if (!first.done) yield first.value;
    yield* raw;
  }
  yield* decoded(all(), incoming.announced);
}

async function* counted(
  chunks: AsyncGenerator<Buffer>,
  count: (chunk: number, total: number) => void,
): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of chunks) {
    total += chunk.length;
    count(chunk.length, total);
    yield chunk;
  }
}

/** Reads enough of the start to detect the format, and returns it together with the full content. */
async function peek(chunks: AsyncGenerator<Buffer>): Promise<{ head: Buffer; rest: AsyncGenerator<Buffer> }> {
  const taken: Buffer[] = [];
  for (let bytes = 0; bytes < detectionBytes; ) {
    const { done, value } = await chunks.next();
    if (done) break;
    taken.push(value);
    bytes += value.length;
  }
  async function* all() {
    yield* taken.splice(0);
    yield* chunks;
  }
  return { head: Buffer.concat(taken), rest: all() };
}

/** Adds an extension to a name without one: later, text formats are detected by extension only. */
function withKnownExtension(name: string, format: string, mediaType: string | undefined): string {
  if (extensionOf(name)) return name;
  const announced = mediaType?.split(';')[0]?.trim().toLowerCase();
  const extension =
    format ||
    (announced && announced !== 'application/octet-stream' && announced !== 'binary/octet-stream'
      ? mime.getExtension(announced)
      : null);
  return extension ? withExtension(name, extension) : name;
}
