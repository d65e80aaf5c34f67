import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { stopOffice } from '../../../functions/engines/document/office.ts';
import { layCanaries, temporaryFolder } from './harness.ts';
import { hostileDocuments } from './hostile-documents.ts';
import { findReached } from './reach.ts';

// As on a platform that lets no process give up its network: the settings alone must hold.
vi.mock('../../../functions/engines/document/isolation.ts', async (original) => {
  const { runProgram } = await import('../../../functions/engines/program.ts');
  return { ...(await original<object>()), networkless: async () => [], runIsolated: runProgram };
});

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let canaries: Awaited<ReturnType<typeof layCanaries>>;

beforeAll(async () => {
  place = await temporaryFolder();
  canaries = await layCanaries(place.folder);
});

beforeEach(() => {
  canaries.hits.length = 0;
});

afterAll(async () => {
  await stopOffice();
  await canaries.close();
  await place.remove();
});

describe('references of documents, with the network in reach', () => {
  it.each(hostileDocuments)(
    'reaches no file and no address from $name',
    async (document) => {
      const others = ['fods', 'csv'].includes(document.format)
        ? ['xlsx']
        : document.format === 'fodp'
          ? ['pptx']
          : ['odt', 'html', 'epub'];

      const reached = await findReached(document, place.folder, canaries.canary, [
        'pdf',
        ...others.filter((name) => name !== document.format),
      ]);

      expect(reached).toEqual([]);
      expect(canaries.hits).toEqual([]);
    },
    60_000,
  );
});
