import { expect, test } from 'vitest';
import { traceOf } from '../../src/lambda/lineage.ts';
import { fixtureFunction } from '../lambda/fixtures/functions.ts';

const worker = fixtureFunction('worker');
const relay = fixtureFunction('relay');
const stopped = expect.objectContaining({ errorType: 'RecursiveInvocationException' });

function chain(length: number, fn = worker): string | undefined {
  let trace: string | undefined;
  for (let index = 0; index < length; index++) trace = traceOf(fn, [trace]);
  return trace;
}

test('the seventeenth invocation of a function in one chain is stopped', () => {
  const trace = chain(16);

  expect(() => traceOf(worker, [trace])).toThrow(stopped);
  expect(() => traceOf(relay, [trace])).not.toThrow();
});

test('a function that allows loops is never stopped, and others in its chain are still counted', () => {
  const allowing = { ...worker, allowsLoops: true };
  let trace = chain(10, relay);
  for (let index = 0; index < 40; index++) trace = traceOf(allowing, [trace]);
  for (let index = 0; index < 6; index++) trace = traceOf(relay, [trace]);

  expect(() => traceOf(relay, [trace])).toThrow(stopped);
});

test('the longest chain of a batch of messages counts', () => {
  expect(() => traceOf(worker, [undefined, chain(3), chain(16)])).toThrow(stopped);
  expect(traceOf(worker, [chain(3), chain(15)])).toMatch(/Lineage=[0-9a-f]{8}:16$/);
});

test('an invalid lineage starts a new chain, in the trace that it names', () => {
  expect(traceOf(worker, ['Root=1-67891233-abcdef012345678912345678;Sampled=1'])).toMatch(
    /^Root=1-67891233-abcdef012345678912345678;Parent=[0-9a-f]{16};Sampled=0;Lineage=[0-9a-f]{8}:1$/,
  );
});
