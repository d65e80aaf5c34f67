import { HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { beforeEach, expect, test, vi } from 'vitest';
import type { RunPlan } from '../../../functions/invocation/plan-run.ts';
import { PageFiles } from '../../../functions/worker/split/page-files.ts';
import { PartStates } from '../../../functions/worker/split/part-states.ts';
import { partsOfPages } from '../../../functions/worker/split/plan-pages.ts';
import { makeRun } from '../../transfers/run.ts';

const file = { key: 'k', name: 'a b.pdf', size: 9, format: 'pdf', mediaType: 'application/pdf', token: 't' };
const plan: RunPlan = {
  operation: 'convert',
  files: [file],
  outputFormat: 'png',
  options: { page_range: '8-11' },
  maxOutputBytes: 1_000,
};
const split = { seconds: 100, surveyMs: 0, pages: 12, cuts: [0, 2, 4] };
const first = { key: 'files/x/', size: 700, format: 'png', ms: 1, tags: ['"a"', '"b"'] };
const request = { kind: 'pages', from: 2, to: 4 } as const;

beforeEach(() => {
  vi.stubEnv('LATHE_BUCKET', 'files');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
});

/** Reports outputs of the second part with these names, which have the size in S3. */
function report(names: string[], { size = 100, etag = '"t"' } = {}) {
  vi.spyOn(S3Client.prototype, 'send').mockImplementation(async (command) => {
    if (!(command instanceof HeadObjectCommand)) throw new Error('Only the versions are read.');
    return { ETag: etag, ContentLength: size };
  });
  const outputs = names.map((name) => ({ name, format: 'png', etag: '"t"' }));
  const states = new PartStates(partsOfPages(split), new Map([['p0', first]]));
  const files = new PageFiles(makeRun('convert', { output_format: 'png' }), plan, split);
  return files.keepPart('p1', request, 'parts/1-p1-1', { type: 'done', outputs, engineMs: 5 }, states);
}

test.each([
  [['a b-09.png', 'a b-10.png'], 'a b-10.png', 'a b-09.png'],
  [['a b-10.png', 'a b-9.png'], 'a b-11.png', 'a b-9.png'],
  [['a b-10.png', 'a b-11.exe'], 'a b-11.png', 'a b-11.exe'],
])('A part with the files %j is refused', async (names, expected, received) => {
  await expect(report(names)).rejects.toMatchObject({
    name: 'EngineError',
    detail: `Expected the output ${expected} but received ${received}.`,
  });
});

test('A part whose files are not stored as reported is refused', async () => {
  await expect(report(['a b-10.png', 'a b-11.png'], { etag: '"other"' })).rejects.toMatchObject({
    detail: 'Output 0 was not stored, or replaced.',
  });
});

test('Parts whose files have too many bytes together are refused', async () => {
  await expect(report(['a b-10.png', 'a b-11.png'], { size: 151 })).rejects.toThrow(/exceed the 1,000 bytes/);
});
