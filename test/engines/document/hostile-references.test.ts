import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runIsolated } from '../../../functions/engines/document/guards/isolation.ts';
import { layCanaries, placeOfFile, secret } from './harness.ts';
import { hostileDocuments } from './hostile-documents.ts';
import { hostilePackages } from './hostile-packages.ts';
import { findReached } from './reach.ts';

// As on a platform that lets no process give up its network or files: what the engine itself does must hold.
vi.mock('../../../functions/engines/document/guards/isolation.ts', async () => {
  const { runProgram } = await import('../../../functions/engines/runtime/program.ts');
  return { findIsolation: async () => ({ networkless: [], confines: false }), runIsolated: runProgram };
});

const place = placeOfFile();
let canaries: Awaited<ReturnType<typeof layCanaries>>;

beforeAll(async () => {
  canaries = await layCanaries(place.folder);
});

beforeEach(() => {
  canaries.hits.length = 0;
});

afterAll(() => canaries.close());

function outputsOf(format: string): string[] {
  if (['fods', 'ods', 'csv', 'xlsx'].includes(format)) return ['xlsx', 'html'];
  if (['fodp', 'odp', 'pptx'].includes(format)) return ['pptx', 'odp'];
  return format === 'odg' ? ['fodg', 'svg'] : ['odt', 'html', 'epub', 'docx'];
}

it('runs programs that could reach what no document may', async () => {
  const { stdout } = await runIsolated('cat', [canaries.canary.text], { folder: tmpdir(), cwd: tmpdir() });

  expect(stdout).toContain(secret);
});

describe('references of documents, with the network and all files in reach', () => {
  it.each([...hostileDocuments, ...hostilePackages])(
    'reaches no file and no address from $name',
    async (document) => {
      const others = outputsOf(document.format);

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
