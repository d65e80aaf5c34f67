import type { ResultFile } from './types.ts';

/** The maximum of the service for all files of an instant request. */
export const maxInstantBytes = 4_400_000;

/** The result of an instant conversion. */
export interface InstantResult {
  files: ResultFile[];
  /** Input that could not be converted. */
  warnings: string[];
}

/** Statuses of instant requests: unknown to the service, too large, too many, failed, busy, too slow. */
const jobStatuses = new Set([404, 405, 413, 429, 500, 502, 503, 504]);
/** Retries if the account has too many in progress, and the longest pause before one. */
const busyRetries = 2;
const maxBusyMs = 2_000;

/** Returns whether a job may succeed after an instant request has failed with a status. */
export function isJobNeeded(status: number | undefined): boolean {
  return status !== undefined && jobStatuses.has(status);
}

interface Failure {
  status: number | undefined;
  retryAfterMs: number | undefined;
}

/** Returns how often to retry an instant request before a job: a request that takes too long would do so again. */
export function retriesBeforeJob({ status, retryAfterMs }: Failure): number {
  return status === 429 && retryAfterMs !== undefined && retryAfterMs <= maxBusyMs ? busyRetries : 0;
}

/** Reads the response to an instant request. Several files come as a ZIP, and are returned one by one. */
export async function readInstantResult(response: Response, outputFormat?: string): Promise<InstantResult> {
  const { headers } = response;
  const file = fileOf(fileNameOf(headers.get('content-disposition') ?? '') ?? 'file', await response.blob());
  // A browser that has followed a redirect to a large result hides the header.
  const isArchive = file.format === 'zip' && outputFormat !== undefined && !zipFormats.has(outputFormat);
  const type = headers.get('lathe-archive') ?? (isArchive ? opaque : undefined);
  return {
    files: type === undefined ? [file] : await entriesOf(file.content, type),
    warnings: JSON.parse(headers.get('lathe-warnings') ?? '[]'),
  };
}

/** Formats with one file that is a ZIP. */
const zipFormats = new Set(['zip', 'hls', 'dash']);
const opaque = 'application/octet-stream';
const media = /^(?:image|audio|video)\//;

function fileOf(filename: string, content: Blob): ResultFile & { content: Blob } {
  let url: string | undefined;
  return {
    filename,
    size: content.size,
    format: /[.]([^.]+)$/.exec(filename)?.[1] ?? '',
    media_type: content.type || opaque,
    content,
    get url() {
      // Created on demand and once, because the content stays in memory as long as the link. A page that opens it must not
      // run a converted page as its own.
      url ??= URL.createObjectURL(media.test(content.type) ? content : content.slice(0, content.size, opaque));
      return url;
    },
  };
}

/** Returns the name in a Content-Disposition header of the service (RFC 6266). */
function fileNameOf(header: string): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
  return encoded === undefined ? /filename="([^"]+)"/.exec(header)?.[1] : decodeURIComponent(encoded);
}

/** Sizes and signatures of ZIP records (APPNOTE 4.3). */
const endRecord = { signature: 0x06054b50, bytes: 22 };
const centralRecord = { signature: 0x02014b50, bytes: 46 };
const localRecordBytes = 30;

/** Returns the files in a ZIP of the service, which stores them uncompressed and in order. */
async function entriesOf(zip: Blob, type: string): Promise<ResultFile[]> {
  const view = new DataView(await zip.arrayBuffer());
  const end = view.byteLength - endRecord.bytes;
  if (end < 0 || view.getUint32(end, true) !== endRecord.signature) throw new TypeError('The ZIP has no end record.');
  const files: ResultFile[] = [];
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (view.getUint32(at, true) !== centralRecord.signature) throw new TypeError('The ZIP is damaged.');
    const size = view.getUint32(at + 20, true);
    const nameBytes = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const start = local + localRecordBytes + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, at + centralRecord.bytes, nameBytes));
    files.push(fileOf(name, zip.slice(start, start + size, type)));
    at += centralRecord.bytes + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return files;
}
