import { LambdaClient } from '@aws-sdk/client-lambda';
import { CopyObjectCommand, HeadObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { beforeEach, expect, test, vi } from 'vitest';
import { runEngine } from '../../../functions/worker/engine-run.ts';
import { outputKey, postedKey } from '../../../shared/files/keys.ts';
import { makeRun, makeTask } from '../../transfers/run.ts';

const input = makeTask('import/upload', {});
input.files = [{ key: 'files/a', name: 'a.png', size: 10, format: 'png', mediaType: 'image/png', token: 't' }];

beforeEach(() => {
  for (const [name, value] of Object.entries({
    LATHE_BUCKET: 'files',
    LATHE_FUNCTION_IMAGE: 'engine',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }))
    vi.stubEnv(name, value);
});

/** Runs a conversion whose engine says that it stored files, which have these sizes in S3; returns what was asked of S3. */
async function convert(sizes: number[], onCopy: () => void = () => {}, tagOf = (index: number) => `"tag${index}"`) {
  const asked: unknown[] = [];
  const outputs = sizes.map((_, index) => ({ name: `${index}.webp`, format: 'webp', etag: `"tag${index}"` }));
  async function* stream() {
    const text = `${JSON.stringify({ type: 'done', outputs, engineMs: 0 })}\n`;
    yield { PayloadChunk: { Payload: Buffer.from(text) } };
    yield { InvokeComplete: {} };
  }
  vi.spyOn(LambdaClient.prototype, 'send').mockImplementation(async () => ({ EventStream: stream() }));
  vi.spyOn(S3Client.prototype, 'send').mockImplementation(async (command) => {
    asked.push(command);
    if (command instanceof CopyObjectCommand) onCopy();
    if (!(command instanceof HeadObjectCommand)) return {};
    const index = Number(command.input.Key?.split('/').at(-1));
    return { ETag: tagOf(index), ContentLength: sizes[index] };
  });
  const run = makeRun('convert', { output_format: 'webp' }, [input]);
  const result = await runEngine('image', run).catch((error: unknown) => error);
  return { run, result, copies: asked.filter((command) => command instanceof CopyObjectCommand) };
}

test('outputs are copied as the engine stored them, out of the reach of the form', async () => {
  const { run, result, copies } = await convert([7, 8]);

  const { id } = run.task;
  expect(result).toMatchObject({
    files: [
      { key: outputKey(id, 1, 0), size: 7, name: '0.webp' },
      { key: outputKey(id, 1, 1), size: 8, name: '1.webp' },
    ],
    leftovers: [postedKey(id, 1, 0), postedKey(id, 1, 1)],
  });
  expect(copies.map(({ input }) => [input.Key, input.CopySourceIfMatch])).toEqual([
    [outputKey(id, 1, 0), '"tag0"'],
    [outputKey(id, 1, 1), '"tag1"'],
  ]);
});

test('outputs that are larger in total than the disk of the engine are refused', async () => {
  const { result } = await convert([3 * 1024 ** 3, 3 * 1024 ** 3]);

  expect(result).toMatchObject({
    name: 'EngineError',
    detail: expect.stringMatching(/^Outputs of 6442450944 bytes were stored; the maximum is \d+\.$/),
  });
});

test('an output that is replaced before it is copied fails the run', async () => {
  const replaced = new S3ServiceException({
    name: 'PreconditionFailed',
    $fault: 'client',
    $metadata: { httpStatusCode: 412 },
  });
  const { result } = await convert([7], () => {
    throw replaced;
  });

  expect(result).toMatchObject({ name: 'EngineError', detail: 'Output 0 was not stored, or replaced.' });
});

test('an output whose size is that of another version fails the run', async () => {
  const { result } = await convert([7], undefined, () => '"later"');

  expect(result).toMatchObject({ name: 'EngineError', detail: 'Output 0 was not stored, or replaced.' });
});
