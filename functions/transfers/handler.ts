import { EngineError } from '../engines/runtime/engine.ts';
import { type Run, type RunResult, workerHandler } from '../worker/worker.ts';
import { exportUrl } from './export-url.ts';

type Transfer = (run: Run) => Promise<RunResult>;

/** Operations that move files without changing them; each loads the library of its protocol on demand. */
const transfers = new Map<string, () => Promise<Transfer>>([
  ['export/url', async () => exportUrl],
  ['import/url', async () => (await import('./import-url.ts')).importUrl],
  ['import/objstore_a', async () => (await import('./objstore-a.ts')).importObjstoreA],
  ['export/objstore_a', async () => (await import('./objstore-a.ts')).exportObjstoreA],
  ['import/objstore_b', async () => (await import('./objstore-b.ts')).importObjstoreB],
  ['export/objstore_b', async () => (await import('./objstore-b.ts')).exportObjstoreB],
  ['import/blobstore', async () => (await import('./blobstore.ts')).importBlobstore],
  ['export/blobstore', async () => (await import('./blobstore.ts')).exportBlobstore],
  ['import/sftp', async () => (await import('./sftp.ts')).importSftp],
  ['export/sftp', async () => (await import('./sftp.ts')).exportSftp],
]);

/** Moves the files of a run. */
export async function performTransfer(run: Run): Promise<RunResult> {
  const load = transfers.get(run.task.operation);
  if (!load) throw new EngineError(`${run.task.operation} is not available on this instance yet.`);
  const transfer = await load();
  // Only the run is passed; the other parameters are for tests.
  return transfer(run);
}

export const handler = workerHandler({ pool: 'transfer', perform: performTransfer });
