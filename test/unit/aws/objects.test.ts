import { DeleteObjectsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, expect, test, vi } from 'vitest';
import { deleteFilesBefore } from '../../../shared/aws/objects.ts';
import { outputKey, postedKey } from '../../../shared/files/keys.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('deletes at most 1,000 keys in one request, however many a page lists', async () => {
  vi.stubEnv('LATHE_BUCKET', 'files');
  // Also what an engine stored by its form after the end of its run.
  const keys = Array.from({ length: 2_500 }, (_, index) => {
    const id = index.toString(16).padStart(24, '0');
    return index % 2 === 0 ? outputKey(id, 1, 0) : postedKey(id, 1, 0);
  });
  const deleted: number[] = [];
  vi.spyOn(S3Client.prototype, 'send').mockImplementation(async (command) => {
    if (!(command instanceof DeleteObjectsCommand)) return { Contents: keys.map((Key) => ({ Key })) };
    deleted.push(command.input.Delete?.Objects?.length ?? 0);
    return {};
  });
  expect(await deleteFilesBefore('files/', 'f'.repeat(24))).toBe(2_500);
  expect(deleted).toEqual([1_000, 1_000, 500]);
});
