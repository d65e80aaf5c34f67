import type { TransferSettings } from '../../functions/transfers/receive.ts';
import type { Run } from '../../functions/worker/worker.ts';
import type { JsonObject, StoredFile } from '../../shared/tasks/task.ts';
import { makeRun, makeSettings, makeTask } from '../transfers/run.ts';
import { peakMemory } from './peak-memory.ts';
import { copyPlainly } from './plain-copy.ts';

/** The work of one process: an operation of the service, or the same with the plain tool of the protocol. */
export interface Assignment {
  operation: string;
  bare: boolean;
  parameters: JsonObject;
  /** The files to export. */
  inputs: StoredFile[];
  /** A folder for tools that cannot pipe. */
  scratch: string;
  /** Connection settings of the SFTP server for OpenSSH's client. */
  ssh: { port: number; keyFile: string; username: string };
}

type Transfer = (run: Run, settings: TransferSettings) => Promise<unknown>;

/** Loads only the module of an operation, as the function does, before the clock starts. */
const transfers: Record<string, () => Promise<Transfer>> = {
  'import/url': async () => (await import('../../functions/transfers/import-url.ts')).importUrl,
  'export/url': async () => (await import('../../functions/transfers/export-url.ts')).exportUrl,
  'import/objstore_a': async () => (await import('../../functions/transfers/objstore-a.ts')).importObjstoreA,
  'export/objstore_a': async () => (await import('../../functions/transfers/objstore-a.ts')).exportObjstoreA,
  'import/objstore_b': async () => (await import('../../functions/transfers/objstore-b.ts')).importObjstoreB,
  'export/objstore_b': async () => (await import('../../functions/transfers/objstore-b.ts')).exportObjstoreB,
  'import/blobstore': async () => (await import('../../functions/transfers/blobstore.ts')).importBlobstore,
  'export/blobstore': async () => (await import('../../functions/transfers/blobstore.ts')).exportBlobstore,
  'import/sftp': async () => (await import('../../functions/transfers/sftp.ts')).importSftp,
  'export/sftp': async () => (await import('../../functions/transfers/sftp.ts')).exportSftp,
};

async function loadTransfer({ operation, parameters, inputs }: Assignment): Promise<() => Promise<unknown>> {
  const transfer = await transfers[operation]?.();
  if (!transfer) throw new Error(`${operation} is not measured.`);
  const tasks = inputs.length > 0 ? [{ ...makeTask('import/upload', {}), files: inputs }] : [];
  const settings = makeSettings({
    maxFileBytes: 5_000_000_000,
    retryPolicy: { maxAttempts: 3, backoffMs: 100, idleTimeoutMs: 60_000 },
  });
  return () => transfer(makeRun(operation, parameters, tasks), settings);
}

const assignment: Assignment = JSON.parse(process.argv[2] ?? '{}');
const work = assignment.bare ? () => copyPlainly(assignment) : await loadTransfer(assignment);
const started = process.hrtime.bigint();
await work();
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
process.stdout.write(`${JSON.stringify({ seconds, peakBytes: peakMemory() })}\n`);
process.exit(0);
