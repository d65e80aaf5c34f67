import { describe, expect, it } from 'vitest';
import { FairOrder } from '../../src/sqs/fair-order.ts';

const minute = 60_000;
const start = Date.UTC(2026, 0, 1);

/** Messages grouped by the first letters of their names; those in capitals have no group. */
function messages(names: string, sentTimestamp = start) {
  return names.split(' ').map((name) => {
    const group = name.charAt(0);
    return { name, sentTimestamp, ...(group === group.toUpperCase() ? {} : { messageGroupId: group }) };
  });
}

/** Receives messages of groups, and processes them for some time if given. */
function orderAfter(received: Record<string, number>, processedMs?: Record<string, number>): FairOrder {
  const order = new FairOrder();
  for (const [group, count] of Object.entries(received))
    for (let index = 0; index < count; index++) order.received(`${group} ${index}`, group, start);
  for (const [group, ms] of Object.entries(processedMs ?? {})) {
    order.received(`${group} past`, group, start - ms);
    order.ended([`${group} past`], start);
  }
  return order;
}

function chosen(order: FairOrder, waiting: ReturnType<typeof messages>, max: number, now = start): string {
  return order
    .choose(waiting, max, now)
    .map(({ name }) => name)
    .join(' ');
}

describe('a fair queue', () => {
  it('delivers in the order sent while no group is noisy', () => {
    expect(chosen(orderAfter({}), messages('a1 a2 b1 X a3 c1'), 4)).toBe('a1 a2 b1 X');
  });

  it.each([
    ['30 of 40 in flight', { a: 30, b: 10 }, 'b1 a1'],
    ['29 in flight, however few the others', { a: 29 }, 'a1 a2'],
    ['30 of 300 in flight, which is no more than a tenth', { a: 30, c: 270 }, 'a1 a2'],
    ['31 of 300 in flight', { a: 31, c: 269 }, 'b1 a1'],
  ])('serves others first or not if a group has %s', (_, received, expected) => {
    expect(chosen(orderAfter(received), messages('a1 a2 b1'), 2)).toBe(expected);
  });

  it.each([
    ['more than a tenth of the time', { a: 1_100, c: 9_000 }, 'b1 a1'],
    ['a tenth of the time', { a: 1_000, c: 9_000 }, 'a1 a2'],
    ['all of too short a time', { a: 900 }, 'a1 a2'],
  ])('serves others first or not if consumers spent on a group %s', (_, processed, expected) => {
    expect(chosen(orderAfter({}, processed), messages('a1 a2 b1'), 2)).toBe(expected);
  });

  it('counts the time of messages that are still in flight', () => {
    expect(chosen(orderAfter({ a: 2 }), messages('a1 b1'), 1, start + 400)).toBe('a1');
    expect(chosen(orderAfter({ a: 2 }), messages('a1 b1'), 1, start + 600)).toBe('b1');
  });

  it('forgets the time after some minutes', () => {
    const order = orderAfter({}, { a: 5_000, c: 20_000 });
    expect(chosen(order, messages('a1 b1'), 1)).toBe('b1');
    order.received('c later', 'c', start + 10 * minute);
    order.ended(['c later'], start + 11 * minute);
    expect(chosen(order, messages('a1 b1', start + 11 * minute), 1, start + 11 * minute)).toBe('a1');
  });

  it('treats messages without a group as quiet, and delivers those of a noisy group if no others wait', () => {
    expect(chosen(orderAfter({ a: 30 }), messages('a1 a2 X Y'), 3)).toBe('X Y a1');
    expect(chosen(orderAfter({ a: 30 }), messages('a1 a2'), 5)).toBe('a1 a2');
  });

  it('serves the noisy group with the fewest messages in flight', () => {
    expect(chosen(orderAfter({ a: 33, c: 31 }), messages('a1 a2 a3 c1 c2 c3'), 5)).toBe('c1 c2 a1 c3 a2');
  });

  it.each([
    ['its backlog is drained', (order: FairOrder) => order.drained('a', start), messages('a1 b1')],
    ['it has sent nothing for five minutes', () => undefined, messages('a1 b1', start - 5 * minute)],
  ])('treats a group as quiet again once %s', (_, change, waiting) => {
    const order = orderAfter({ a: 2 }, { a: 60_000 });
    expect(chosen(order, messages('a1 b1'), 1)).toBe('b1');
    change(order);
    expect(chosen(order, waiting, 1)).toBe('a1');
  });
});
