import { expect, test } from 'vitest';
import { FunctionError } from '../../src/lambda/function-error.ts';
import { Invocation } from '../../src/lambda/invocation.ts';
import { Turns } from '../../src/lambda/turns.ts';

const of = (client?: string) => new Invocation('{}', { client });

test('next is the first of the client that has fewest running', () => {
  const turns = new Turns(2);
  const [ann, annToo, bob] = [of('ann'), of('ann'), of('bob')];
  turns.begin(of('ann'));

  expect(turns.next([ann, annToo, bob])).toBe(bob);
  turns.begin(bob);
  expect(turns.next([ann, annToo])).toBe(ann);
});

test('of clients that have as many running, next is the one that had its last turn longest ago', async () => {
  const turns = new Turns(1);
  const over = of('ann');
  const [ann, bob] = [of('ann'), of('bob')];
  turns.begin(over);
  expect([turns.isFirst(ann), turns.isFirst(bob)]).toEqual([false, true]);
  over.fail(new FunctionError('Sandbox.Stopped', 'The runtime was stopped'));
  await over.ended;

  expect(turns.next([ann, bob])).toBe(bob);
});

test('a client that has as many running as it may waits until one has ended', async () => {
  const turns = new Turns(1);
  const running = of('ann');
  turns.begin(running);

  expect(turns.next([of('ann')])).toBeUndefined();
  running.fail(new FunctionError('Sandbox.Stopped', 'The runtime was stopped'));
  await running.ended;
  expect(turns.mayRun(of('ann'))).toBe(true);
});

test('what no client asked for has no limit, and comes in its order', () => {
  const turns = new Turns(1);
  const [first, second] = [of(), of()];
  turns.begin(of());

  expect(turns.next([first, second])).toBe(first);
});
