import type { EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';

/** Moves files between stores and changes none, so it has no formats of its own. */
export const catalogue: EngineCatalogue = {
  engine: 'transfer',
  summary: 'Brings files in and hands them out',
  resources: { packaging: 'zip', memoryMegabytes: 1024, diskMegabytes: 512, timeoutSeconds: 900, mostAtOnce: 100 },
  formats: [{ ext: 'zip', mediaType: 'application/zip' }],
  capabilities: [],
};
