import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claimMs, type PlaceClaims, placesOf } from '../../../functions/worker/split/share-places.ts';

const now = Date.UTC(2026, 0, 1);
const claim = (user: string, wants: number, holds = 0, until = now + 1) => ({ user, wants, holds, until });

describe('the places of a split run', () => {
  test.each<[string, PlaceClaims, number]>([
    ['all, if it is alone', { 'a#1': claim('u', 400) }, 100],
    ['no more than it wants', { 'a#1': claim('u', 7) }, 7],
    ['half, next to another account', { 'a#1': claim('u', 400), 'b#1': claim('v', 400) }, 50],
    ['what others do not want', { 'a#1': claim('u', 400), 'b#1': claim('v', 10) }, 90],
    [
      'a part of the share of its account',
      { 'a#1': claim('u', 400), 'b#1': claim('u', 400), 'c#1': claim('v', 400) },
      25,
    ],
    ['only what others do not hold', { 'a#1': claim('u', 400), 'b#1': claim('v', 400, 80) }, 20],
    ['none, if others hold all', { 'a#1': claim('u', 400), 'b#1': claim('v', 0, 100) }, 0],
    ['all, next to claims of workers that died', { 'a#1': claim('u', 400), 'b#1': claim('v', 400, 80, now) }, 100],
    ['all, next to an earlier attempt of its own', { 'a#2': claim('u', 400), 'a#1': claim('u', 400, 80) }, 100],
    ['none, without a claim', { 'b#1': claim('v', 1) }, 0],
  ])('are %s', (_, claims, expected) => {
    expect(placesOf(claims, claims['a#2'] ? 'a#2' : 'a#1', 100, now)).toBe(expected);
  });

  test('are never more than there are, and never all taken by one account, in whatever order the claims are written', () => {
    const step = fc.record({ run: fc.nat(9), wants: fc.nat(60), ended: fc.nat(60) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (steps, max) => {
        const claims: PlaceClaims = {};
        const active = new Map<string, number>();
        for (const { run, wants, ended } of steps) {
          const name = `t${run}#1`;
          const own = Math.max(0, (active.get(name) ?? 0) - ended);
          // As the coordinator does it: what it holds is written first, and the result of that write decides.
          const write = (holds: number) => {
            claims[name] = { user: `u${run % 3}`, wants: wants + own, holds, until: now + claimMs };
            return placesOf(claims, name, max, now);
          };
          const granted = Math.max(own, Math.min(write(Math.max(own, wants)), wants + own));
          write(granted);
          active.set(name, granted);
          const sum = [...active.values()].reduce((all, each) => all + each, 0);
          expect(sum).toBeLessThanOrEqual(max);
        }
      }),
    );
  });

  test('are shared evenly once all parts that were in progress have ended', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 }), (wanted) => {
        const claims = Object.fromEntries(wanted.map((wants, index) => [`t${index}#1`, claim(`u${index}`, wants)]));
        const given = Object.keys(claims).map((name) => placesOf(claims, name, 100, now));
        const all = given.reduce((sum, each) => sum + each, 0);
        expect(all).toBe(
          Math.min(
            100,
            wanted.reduce((sum, each) => sum + each, 0),
          ),
        );
        // Nobody gets less than another, unless it wants no more.
        const most = Math.max(...given);
        for (const [index, each] of given.entries())
          expect(each).toBeGreaterThanOrEqual(Math.min(wanted[index] ?? 0, most - 1));
      }),
    );
  });
});
