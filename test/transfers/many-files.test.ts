import { beforeAll, describe, expect, it } from 'vitest';
import { exportUrl } from '../../functions/transfers/export-url.ts';
import { exportObjstoreA, importObjstoreA } from '../../functions/transfers/objstore-a.ts';
import type { Task } from '../../shared/tasks/task.ts';
import { startFileServer } from './file-server.ts';
import { failureOf } from './own-bucket.ts';
import { makeRun, makeSettings, makeTask } from './run.ts';

/** Makes a completed task with files that are in no bucket: whoever fetches one fails otherwise than expected here. */
function withFiles(count: number, name: (index: number) => string): Task {
  const files = Array.from({ length: count }, (_, index) => ({
    key: `files/${'a'.repeat(24)}/1/${index}`,
    name: name(index),
    size: 10,
    format: 'png',
    mediaType: 'image/png',
    token: 't'.repeat(24),
  }));
  return { ...makeTask('convert', {}), status: 'completed', files };
}

const store = {
  bucket: 'bucket',
  region: 'us-east-1',
  endpoint: 'http://127.0.0.1:9',
  access_key_id: 'a',
  secret_access_key: 'b',
};

beforeAll(() => {
  process.env.LATHE_BUCKET = 'lathe-files';
});

describe('A task with more files than its record holds', () => {
  it('is refused before anything is copied or sent', async () => {
    const half = withFiles(251, (index) => `${index}.png`);
    const run = makeRun('export/url', {}, [half, half]);
    await expect(exportUrl(run)).rejects.toThrow(
      'This would produce 502 files; the maximum per task is 500. Set archive_multiple_files, or split the inputs across several tasks.',
    );
    const exported = exportObjstoreA(
      makeRun('export/objstore_a', { ...store, key_prefix: 'p/' }, [half, half]),
      makeSettings(),
    );
    await expect(exported).rejects.toThrow('This would produce 502 files; the maximum per task is 500.');
  });

  it('is refused where the places of its files are too long to be kept with it', async () => {
    const input = withFiles(400, (index) => `${'n'.repeat(190)}${index}.png`);
    const parameters = { ...store, key_prefix: `${'p'.repeat(800)}/` };
    const failure = await failureOf(exportObjstoreA(makeRun('export/objstore_a', parameters, [input]), makeSettings()));
    expect(failure).toEqual({
      errorCode: 'processing_failed',
      msg: 'The names of the 400 files are too long to be stored with the task. Shorten key_prefix or split the inputs across several tasks.',
    });
  });

  it('does not come of a prefix, nor of a store that lists pages without end', async () => {
    const objects = Array.from(
      { length: 501 },
      (_, index) => `<Contents><Key>p/${index}</Key><Size>1</Size></Contents>`,
    );
    await using server = await startFileServer((request, response) => {
      const full = request.url?.includes('full') === true;
      response.end(
        `<ListBucketResult>${full ? objects.join('') : ''}<IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken></ListBucketResult>`,
      );
    });
    const importing = (prefix: string) =>
      failureOf(
        importObjstoreA(
          makeRun('import/objstore_a', { ...store, endpoint: server.url, key_prefix: prefix }),
          makeSettings(),
        ),
      );
    expect((await importing('full')).msg).toMatch(
      /^More than 500 objects, the maximum per task, have the prefix "full"/,
    );
    expect((await importing('empty')).msg).toBe(
      'The listing of the prefix "empty" has more than 100 pages. Use a longer prefix.',
    );
    expect(server.requests).toHaveLength(101);
  });
});
