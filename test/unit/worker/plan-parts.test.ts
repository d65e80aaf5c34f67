import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunPlan } from '../../../functions/invocation/plan-run.ts';
import { isCandidate, partsOf, planParts } from '../../../functions/worker/split/plan-parts.ts';

const file = { key: 'k', name: 'a.mp4', size: 500e6, format: 'mp4', mediaType: 'video/mp4', token: 't' };
const run: Pick<RunPlan, 'operation' | 'files'> = { operation: 'convert', files: [file] };
const video = ['video/mp4', 'video/webm'];
/** An hour with a keyframe every two seconds, which takes one engine forty minutes. */
const hour = {
  seconds: 2_400,
  start: 0,
  end: 3_600,
  sound: true,
  boundaries: Array.from({ length: 1_800 }, (_, index) => index * 2),
};

describe('A run that may be worth splitting', () => {
  test.each([
    ['converts a large video', {}, video, true],
    ['compresses one', { operation: 'compress' as const }, video, true],
    ['makes segments of HLS', {}, ['video/mp4', 'application/zip'], true],
    ['makes segments of sound', {}, ['audio/mpeg', 'application/zip'], false],
    ['trims it', { operation: 'trim' as const }, video, false],
    ['has two files', { files: [file, file] }, video, false],
    ['has no file', { files: [] }, video, false],
    ['has a small file', { files: [{ ...file, size: 44e6 }] }, video, false],
    ['extracts the sound', {}, ['video/mp4', 'audio/mpeg'], false],
    ['makes an animation', {}, ['video/mp4', 'image/gif'], false],
  ])('or may not: it %s', (_, change, types, expected) => {
    expect(isCandidate({ ...run, ...change }, types, 45)).toBe(expected);
  });
});

describe('The plan of a split run', () => {
  test('has chunks that take an engine about 45 seconds, from keyframe to keyframe', () => {
    const plan = planParts(hour, 5_000, 45);
    expect(plan?.chunks).toHaveLength(54);
    expect(plan?.chunks.at(0)).toEqual({ from: 0, to: 66 });
    expect(plan?.chunks.at(1)).toEqual({ from: 66, to: 134 });
    expect(plan?.chunks.at(-1)).toEqual({ from: 3_534 });
    expect(plan).toMatchObject({ seconds: 2_400, surveyMs: 5_000, end: 3_600, sound: true });
  });

  test.each([
    ['takes one engine hardly longer', { ...hour, seconds: 134 }],
    ['cannot be split', { ...hour, boundaries: undefined }],
    ['has no keyframe between its ends', { ...hour, boundaries: [0, 3_600] }],
    ['is shorter than two chunks', { ...hour, end: 50 }],
  ])('does not exist for a video that %s', (_, survey) => {
    const { boundaries, ...rest } = survey;
    expect(planParts({ ...rest, ...(boundaries ? { boundaries } : {}) }, 0, 45)).toBeUndefined();
  });

  test('has at most 400 chunks, which cover the source without gaps, whatever the survey says', () => {
    const times = fc.uniqueArray(fc.double({ min: -10, max: 50_000, noNaN: true }), { maxLength: 500 });
    fc.assert(
      fc.property(times, fc.double({ min: 0, max: 1e9, noNaN: true }), (given, seconds) => {
        const boundaries = given.toSorted((one, other) => one - other);
        const plan = planParts({ seconds, start: -10, end: 50_000, boundaries, sound: false }, 0, 45);
        if (!plan) return;
        const { chunks } = plan;
        expect(chunks.length).toBeLessThanOrEqual(400);
        expect(chunks[0]?.from).toBe(-10);
        chunks.forEach(({ from, to }, index) => {
          expect(to).toBe(chunks[index + 1]?.from);
          if (to !== undefined) expect(to).toBeGreaterThan(from);
          if (index > 0) expect(boundaries).toContain(from);
        });
      }),
    );
  });

  test('has for each chunk the bytes and the number of pictures between its boundaries', () => {
    const places = [0, ...hour.boundaries, 3_600];
    const reads = {
      index: [[0, 1_000] as [number, number]],
      from: places.map((time) => 1_000 + time * 100),
      to: places.map((time) => 2_000 + time * 100),
      pictures: places.map((time) => time * 30),
      join: [[0, 1_500] as [number, number]],
    };
    const plan = planParts({ ...hour, reads }, 5_000, 45);
    expect(plan?.chunks.at(1)).toEqual({ from: 66, to: 134, pictures: 68 * 30, bytes: [7_600, 15_400] });
    expect(plan?.chunks.at(-1)).toEqual({ from: 3_534, pictures: 66 * 30, bytes: [354_400, 362_000] });
    const [sound, first, second] = plan ? partsOf(plan) : [];
    expect(sound?.read).toEqual({});
    expect(first?.read).toEqual({ ranges: [[0, 8_600]] });
    expect(second?.read).toEqual({
      ranges: [
        [0, 1_000],
        [7_600, 15_400],
      ],
    });
    expect(second?.request).toMatchObject({ pictures: 68 * 30 });
    expect(plan?.reads).toEqual({ index: reads.index, join: reads.join });
  });

  test('names its parts by their order, with the sound first', () => {
    const parts = partsOf({
      seconds: 1,
      surveyMs: 0,
      chunks: [{ from: 0, to: 30 }, { from: 30 }],
      end: 50,
      sound: true,
    });
    expect(parts.map(({ name, weight }) => [name, weight])).toEqual([
      ['sound', 1],
      ['c0', 30],
      ['c1', 20],
    ]);
    expect(parts[2]?.request).toEqual({ kind: 'chunk', index: 1, from: 30 });
  });

  test('measures its chunks first if they share a target size', () => {
    const size = { bytes: 1e6, overhead: 0 };
    const plan = planParts({ ...hour, size }, 0, 45);
    expect(plan?.size).toEqual(size);
    const parts = plan ? partsOf(plan) : [];
    expect(parts).toHaveLength(55);
    expect(parts.slice(0, 2).map(({ name }) => name)).toEqual(['sound', 'm0']);
    expect(parts[1]?.request).toEqual({ kind: 'measure', index: 0, from: 0, to: 66 });
  });
});
