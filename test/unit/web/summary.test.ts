import { expect, test } from 'vitest';
import { filesOf, formatsOf, percentOf } from '../../../web/src/jobs/summary.ts';
import type { Job } from '../../../web/src/service/types.ts';

const job = (...tasks: object[]) =>
  ({ tasks: tasks.map((task) => ({ payload: {}, result: {}, ...task })) }) as unknown as Job;

test('a job is summarized by its files and formats', () => {
  const done = job(
    { operation: 'import/upload', result: { files: [{ filename: 'a.jpeg', format: 'jpg' }] } },
    { operation: 'convert', payload: { output_format: 'webp' } },
    { operation: 'convert', payload: { output_format: 'pdf' } },
    { operation: 'export/url' },
  );
  expect(filesOf(done)).toEqual(['a.jpeg']);
  expect(formatsOf(done)).toBe('jpg → webp, pdf');
});

test('what is not imported yet is named by the request', () => {
  const open = job(
    { operation: 'import/url', payload: { url: 'https://example.com/pictures/my%20cat.png?x=1' } },
    { operation: 'import/url', payload: { url: 'https://example.com/' } },
    { operation: 'import/base64', payload: { filename: 'b.svg' } },
    { operation: 'merge', payload: { output_format: 'pdf' } },
  );
  expect(filesOf(open)).toEqual(['my cat.png', 'example.com', 'b.svg']);
  expect(formatsOf(open)).toContain('merge png');
  expect(formatsOf(open)).toMatch(/→ pdf$/);
});

test('transfers alone convert nothing', () => {
  expect(formatsOf(job({ operation: 'import/upload' }, { operation: 'export/url' }))).toBe('');
});

test('the percent of a job is that of its work', () => {
  const work = { operation: 'convert', endedAt: null, status: 'processing' };
  expect(percentOf(job({ ...work, progress: 50 }, { operation: 'convert', status: 'completed', endedAt: 'x' }))).toBe(
    75,
  );
  expect(percentOf(job(work))).toBeUndefined();
});
