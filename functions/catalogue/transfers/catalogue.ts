import type { EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';
import { exportOperations } from '../../../shared/operations/operations.ts';

/** Moves files between stores without changing them, so it has no formats of its own. */
export const catalogue: EngineCatalogue = {
  engine: 'transfer',
  folder: 'functions/transfers',
  operations: [
    'import/url',
    'import/objstore_a',
    'import/objstore_b',
    'import/blobstore',
    'import/sftp',
    ...exportOperations,
  ],
  reachesOpenBuckets: true,
  summary: 'Imports and exports files',
  resources: {
    packaging: 'worker',
    // Four files at once, each with up to four parts of 5 MB.
    memoryMegabytes: 1024,
    // The minimum of Lambda: files only pass through memory.
    diskMegabytes: 512,
    // The maximum of Lambda: 5 GB at 6 MB a second.
    timeoutSeconds: 900,
    typicalSeconds: 0,
    // Every job imports and exports, and mostly waits for other hosts.
    maxConcurrency: 100,
    // Each chunk is a small object with 64 KB outside the heap, which is freed only when the young generation is
    // collected. At its default size, that is after a hundred megabytes.
    nodeOptions: '--max-semi-space-size=2',
  },
  formats: [{ ext: 'zip', mediaType: 'application/zip' }],
  capabilities: [],
};
