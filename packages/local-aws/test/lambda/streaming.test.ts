import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { temporaryFolder } from './fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from './fixtures/functions.ts';

const entry = fileURLToPath(new URL('./fixtures/streams.ts', import.meta.url));
const streaming = (handler: string, changes = {}) => fixtureFunction(handler, { entry, ...changes });

/** Reads the chunks, and the error at the end, if any. */
async function readAll(chunks: AsyncIterable<Buffer>): Promise<{ text: string; error?: unknown }> {
  let text = '';
  try {
    for await (const chunk of chunks) text += chunk;
  } catch (error) {
    return { text, error };
  }
  return { text };
}

test('forwards data before the function ends', async () => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const release = join(temporary.path, 'release');

  const { chunks } = await runtime.invokeStream(streaming('lines'), { release });
  const reader = chunks[Symbol.asyncIterator]();
  const first = await reader.next();
  writeFileSync(release, '');
  const second = await reader.next();
  const end = await reader.next();

  expect([String(first.value), String(second.value), end.done]).toEqual(['first\n', 'second\n', true]);
});

test('a function that fails before it writes fails the invocation', async () => {
  await using runtime = fixtureRuntime();

  const failure = runtime.invokeStream(streaming('failBefore'), {});

  await expect(failure).rejects.toMatchObject({ errorType: 'RangeError', message: 'nothing came' });
});

test.each([
  ['fails', 'failAfter', 'RangeError', 'broke off'],
  ['throws outside the invocation', 'crashAfter', 'TypeError', 'too late'],
  ['returns without ending its stream', 'neverEnd', 'Runtime.StreamNotEnded', 'without ending'],
])('a function that %s midway delivers what it wrote, and then the error', async (_, handler, errorType, message) => {
  await using runtime = fixtureRuntime();

  const { chunks } = await runtime.invokeStream(streaming(handler), {});

  expect(await readAll(chunks)).toMatchObject({
    text: 'first\n',
    error: { errorType, message: expect.stringContaining(message) },
  });
});

test('a function that exits midway delivers what it wrote, and then the error', async () => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const release = join(temporary.path, 'release');

  const { chunks } = await runtime.invokeStream(streaming('exitAfter'), { release });
  writeFileSync(release, '');

  expect(await readAll(chunks)).toMatchObject({ text: 'first\n', error: { errorType: 'Runtime.ExitError' } });
});

test('a function that does not end in time delivers what it wrote, and then the error', async () => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();

  const { chunks } = await runtime.invokeStream(streaming('lines', { timeoutSeconds: 1 }), {
    release: join(temporary.path, 'never'),
  });

  expect(await readAll(chunks)).toMatchObject({ text: 'first\n', error: { errorType: 'Sandbox.Timedout' } });
});

test('both kinds of functions can be invoked in both ways', async () => {
  await using runtime = fixtureRuntime();

  const whole = await runtime.invoke(streaming('json'), { a: 1 });
  const { chunks } = await runtime.invokeStream(fixtureFunction('echo'), { a: 1 });

  expect(whole).toEqual({ event: { a: 1 } });
  expect(await readAll(chunks)).toEqual({ text: '{"a":1}' });
});

test('streams 200 MB and no more', async () => {
  await using runtime = fixtureRuntime();
  const fn = streaming('flood', { timeoutSeconds: 60 });
  const read = async (megabytes: number) => {
    const { chunks } = await runtime.invokeStream(fn, { megabytes });
    let size = 0;
    for await (const chunk of chunks) size += chunk.length;
    return size;
  };

  expect(await read(200)).toBe(200 * 1024 * 1024);
  await expect(read(201)).rejects.toMatchObject({ errorType: 'Function.ResponseSizeTooLarge' });
  expect(await read(1)).toBe(1024 * 1024);
});

test('a function continues after its reader leaves', async () => {
  await using runtime = fixtureRuntime();
  const fn = streaming('flood', { reservedConcurrency: 1 });
  const { chunks } = await runtime.invokeStream(fn, { megabytes: 20 });
  for await (const chunk of chunks) if (chunk.length > 0) break;

  // Its concurrency is used up until it has ended.
  const next = await until('the first has ended', () =>
    runtime.invokeStream(fn, { megabytes: 0 }).catch((error) => {
      expect(error).toMatchObject({ errorType: 'TooManyRequestsException' });
      return undefined;
    }),
  );

  expect(await readAll(next.chunks)).toEqual({ text: '' });
});
