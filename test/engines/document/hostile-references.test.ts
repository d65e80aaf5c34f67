import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { layCanaries, placeOfFile, secret } from './harness.ts';
import { hostileDocuments } from './hostile-documents.ts';
import { hostilePackages } from './hostile-packages.ts';
import { findReached } from './reach.ts';

// The engine runs in this process, without the barriers of its sandbox, as on a platform that grants none: what it does itself must hold.
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
  const { stdout } = await runProgram('cat', [canaries.canary.text], { cwd: tmpdir() });

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
