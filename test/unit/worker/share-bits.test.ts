import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SplitPlan, secondsOf } from '../../../functions/worker/split/plan-parts.ts';
import { laterWeights, type NextStep, nextStep } from '../../../functions/worker/split/share-bits.ts';

const bytes = 10_000_000;
const plan: SplitPlan = {
  seconds: 100,
  surveyMs: 0,
  chunks: [{ from: 0, to: 30 }, { from: 30, to: 60 }, { from: 60 }],
  end: 80,
  sound: true,
  size: { bytes, overhead: 30_000 },
};
const measured = { sound: 1_000_000, m0: 3_000_000, m1: 300_000, m2: 2_000_000 };

/** An encoder: it returns the size of a chunk of some seconds at a bit rate and scale. */
type Encoder = (index: number, bitrate: number, scale: number) => number;

/** Runs all steps with the sizes that an encoder makes. */
function performed(encoder: Encoder, of: SplitPlan = plan, measures: Record<string, number> = measured) {
  const sizes = new Map(Object.entries(measures));
  const encodings: Record<string, { bitrate: number; scale: number }> = {};
  const step = (): NextStep => nextStep(of, (name) => sizes.get(name));
  let next = step();
  while ('parts' in next) {
    for (const { name, request } of next.parts) {
      if (request.kind !== 'chunk' || !request.video || sizes.has(name)) throw new Error(`Unexpected ${name}.`);
      encodings[name] = request.video;
      sizes.set(name, Math.round(encoder(request.index, request.video.bitrate, request.video.scale)));
    }
    next = step();
  }
  const chosen = 'chunks' in next ? next.chunks : [];
  const total = chosen.reduce((sum, name) => sum + (sizes.get(name) ?? 0), sizes.get('sound') ?? 0);
  return { next, encodings, total };
}

const exact: Encoder = (index, bitrate) => (bitrate * secondsOf(plan, index)) / 8 + 10_000;

describe('The bits of a target size', () => {
  test('are shared by the measured sizes to the power of 0.8, after the sound', () => {
    const { next, encodings, total } = performed(exact);
    expect(next).toEqual({ chunks: ['c0', 'c1', 'c2'] });
    const rates = ['c0', 'c1', 'c2'].map((name) => encodings[name]?.bitrate ?? 0);
    expect((rates[0] ?? 0) / (rates[1] ?? 1)).toBeCloseTo(10 ** 0.8, 0);
    expect((rates[0] ?? 0) / (rates[2] ?? 1)).toBeCloseTo(1, 2);
    expect(total / bytes).toBeCloseTo(0.975, 2);
  });

  test('are corrected for the chunks that are too large, which alone are encoded again', () => {
    const { next, encodings, total } = performed(
      (index, bitrate) => exact(index, bitrate, 1) * (index === 0 ? 1.1 : 1),
    );
    expect(next).toEqual({ chunks: ['d0', 'c1', 'c2'] });
    expect(Object.keys(encodings)).toEqual(['c0', 'c1', 'c2', 'd0']);
    expect(total).toBeLessThan(bytes);
    expect(total).toBeGreaterThan(bytes * 0.95);
  });

  test('are increased if the chunks are too small together', () => {
    const { next, total } = performed((index, bitrate) => exact(index, bitrate, 1) * 0.8);
    expect(next).toEqual({ chunks: ['d0', 'd1', 'd2'] });
    expect(total).toBeGreaterThan(bytes * 0.95);
  });

  test('are not increased again if the pictures need no more', () => {
    const { next, encodings } = performed(() => 100_000);
    expect('chunks' in next).toBe(true);
    expect(Object.keys(encodings)).toHaveLength(6);
  });

  test('shrink the pictures of all chunks if the encoder cannot make one smaller', () => {
    const { next, encodings, total } = performed((index, bitrate, scale) =>
      Math.max(exact(index, bitrate, 1), index === 0 ? 12_000_000 * scale ** 3 : 0),
    );
    expect(next).toEqual({ chunks: ['e0', 'e1', 'e2'] });
    expect(new Set(['e0', 'e1', 'e2'].map((name) => encodings[name]?.scale)).size).toBe(1);
    expect(encodings.e0?.scale).toBeLessThan(1);
    expect(total).toBeLessThan(bytes);
  });

  test('are given up for a size that cannot be met', () => {
    expect(performed(() => 20_000_000).next).toEqual({ minBytes: 61_000_000 });
  });

  test('meet the size with any encoder that is off by less than a third, and never exceed it', () => {
    const off = fc.array(fc.double({ min: 0.7, max: 1.3, noNaN: true }), { minLength: 3, maxLength: 3 });
    const sizes = fc.array(fc.integer({ min: 1, max: 50_000_000 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(off, sizes, (factors, [m0 = 1, m1 = 1, m2 = 1]) => {
        const encoder: Encoder = (index, bitrate) => exact(index, bitrate, 1) * (factors[index] ?? 1);
        const { next, total } = performed(encoder, plan, { sound: 1_000_000, m0, m1, m2 });
        expect('chunks' in next).toBe(true);
        expect(total).toBeLessThanOrEqual(bytes);
        expect(total).toBeGreaterThanOrEqual(bytes * 0.95);
      }),
    );
  });

  test('do not change the chunks of a run without a target size', () => {
    const { size: _, ...unsized } = plan;
    expect(nextStep(unsized, () => undefined)).toEqual({ chunks: ['c0', 'c1', 'c2'] });
    expect([laterWeights(unsized), laterWeights(plan)]).toEqual([[], [30, 30, 20]]);
  });
});
