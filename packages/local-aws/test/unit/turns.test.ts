import { expect, test } from 'vitest';
import { FunctionError } from '../../src/lambda/function-error.ts';
import { Invocation } from '../../src/lambda/invocation.ts';
import { Turns } from '../../src/lambda/turns.ts';

const of = (client?: string) => new Invocation(Buffer.from('{}'), { client });

test('next is the first invocation of the client with the fewest running', () => {
  const turns = new Turns(2);
  const [ann, annToo, bob] = [of('ann'), of('ann'), of('bob')];
  turns.begin(of('ann'));

  expect(turns.next([ann, annToo, bob])).toBe(bob);
  turns.begin(bob);
  expect(turns.next([ann, annToo])).toBe(ann);
});

test('among equal clients, next is the one whose last turn is longest ago', async () => {
  const turns = new Turns(1);
  const over = of('ann');
  const [ann, bob] = [of('ann'), of('bob')];
  turns.begin(over);
  expect([turns.isFirst(ann), turns.isFirst(bob)]).toEqual([false, true]);
  over.fail(new FunctionError('Sandbox.Stopped', 'The runtime was stopped'));
  await over.ended;

  expect(turns.next([ann, bob])).toBe(bob);
});

test('a client at its limit waits until an invocation has ended', async () => {
  const turns = new Turns(1);
  const running = of('ann');
  turns.begin(running);

  expect(turns.next([of('ann')])).toBeUndefined();
  running.fail(new FunctionError('Sandbox.Stopped', 'The runtime was stopped'));
  await running.ended;
  expect(turns.mayRun(of('ann'))).toBe(true);
});

test('invocations without a client have no limit, and run in order', () => {
  const turns = new Turns(1);
  const [first, second] = [of(), of()];
  turns.begin(of());

  expect(turns.next([first, second])).toBe(first);
});
