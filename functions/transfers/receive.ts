import { Readable } from 'node:stream';
import mime from 'mime';
import { newToken } from '../../shared/aws/objects.ts';
import { storeStream } from '../../shared/aws/streams.ts';
import { detectFormat, detectionBytes } from '../../shared/catalogue/detect.ts';
import { outputKey } from '../../shared/files/keys.ts';
import { extensionOf, safeName, withExtension } from '../../shared/files/names.ts';
import type { StoredFile } from '../../shared/tasks/task.ts';
import { catalogue } from '../engines/runtime/catalogues.ts';
import type { Run } from '../engines/runtime/worker.ts';
import { settings } from '../wiring/settings.ts';
import { type Announced, decoded } from './decode.ts';
import { failed } from './failures.ts';
import { deploymentOutbound, type Outbound } from './outbound.ts';
import { type Pace, usualPace } from './pace.ts';
import { type Patience, usualPatience } from './patience.ts';
import { readSteadily, type Source, startingOver } from './steady-read.ts';

/** What a transfer may take and where it may go; tests are less patient and know other names. */
export interface Conduct {
  patience: Patience;
  pace: Pace;
  outbound: Outbound;
  maxFileBytes: number;
}

/** Returns how transfers of this deployment behave. */
export function usualConduct(): Conduct {
  return {
    patience: usualPatience,
    pace: usualPace,
    outbound: deploymentOutbound(),
    maxFileBytes: settings.maxFileBytes,
  };
}

export interface Incoming extends Source {
  announced(): Announced;
}

/** Reports progress over all files of a run. */
export type Count = (bytes: number) => void;

/** Stores content from elsewhere as the n-th file of a run: whole, in parts, and never more than the limit. */
export function receive(
  run: Run,
  index: number,
  incoming: Incoming,
  conduct: Conduct,
  count?: Count,
  partsAtOnce?: number,
): Promise<StoredFile> {
  const { patience, pace, maxFileBytes } = conduct;
  return startingOver(patience, run.signal, async () => {
    const capped: Source = {
      explain: (error) => incoming.explain(error),
      async open(offset, signal) {
        const opened = await incoming.open(offset, signal);
        if (opened.size === undefined || opened.size <= maxFileBytes) return opened;
        opened.stream.on('error', () => undefined).destroy();
        throw tooLarge(maxFileBytes);
      },
    };
    const raw = counted(readSteadily(capped, patience, run.signal, pace), (bytes) => {
      const { size } = incoming.announced();
      if (count) count(bytes.chunk);
      else if (size) run.progress((bytes.total / size) * 100);
    });
    const { head, rest } = await peek(decodeAnnounced(raw, incoming, maxFileBytes));
    const announced = incoming.announced();
    const wish = run.parameters.filename;
    const name = typeof wish === 'string' ? safeName(wish) : safeName(announced.name);
    const format = await detectFormat(catalogue, head, name);
    const fullName = typeof wish === 'string' ? name : withKnownExtension(name, format, announced.mediaType);
    const knownFormat = format || catalogue.canonical(extensionOf(fullName));
    const mediaType = catalogue.mediaType(knownFormat);
    const key = outputKey(run.task.id, run.attempt, index);
    const size = await storeStream(Readable.from(rest, { objectMode: false }), key, mediaType, run.signal, {
      partsAtOnce,
    });
    return { key, name: fullName, size, format: knownFormat, mediaType, token: newToken() };
  });
}

async function* decodeAnnounced(
  raw: AsyncGenerator<Buffer>,
  incoming: Incoming,
  maxFileBytes: number,
): AsyncGenerator<Buffer> {
  // What the other side announces is known only when the first bytes are there.
  const first = await raw.next();
  async function* all() {
    if (!first.done) yield first.value;
    yield* raw;
  }
  let total = 0;
  for await (const chunk of decoded(all(), incoming.announced())) {
    total += chunk.length;
    if (total > maxFileBytes) throw tooLarge(maxFileBytes);
    yield chunk;
  }
}

function tooLarge(maxFileBytes: number) {
  return failed(`The file is larger than ${maxFileBytes} bytes, the maximum of this service.`);
}

async function* counted(
  chunks: AsyncGenerator<Buffer>,
  count: (bytes: { chunk: number; total: number }) => void,
): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of chunks) {
    total += chunk.length;
    count({ chunk: chunk.length, total });
    yield chunk;
  }
}

/** Reads enough of the start to tell the format, and returns it together with everything. */
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

/** Gives a name without an extension one: text formats are told by their names alone further on. */
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
