import { describe, expect, it } from 'vitest';
import { fitTasks } from '../../../functions/api/http/response-size.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';

const lambdaLimit = 6_291_456;

/** What a function hands back: the body is a JSON string within JSON. */
function responseBytes(docs: JsonObject[]): number {
  return Buffer.byteLength(JSON.stringify({ statusCode: 200, headers: {}, body: JSON.stringify({ docs }) }));
}

const taskOf = (id: number, filename: string): JsonObject => ({
  id: String(id),
  status: 'failed',
  payload: { filename },
  dependsOn: ['a'],
  result: { errorCode: 'processing_failed', msg: filename },
});

describe('a list of tasks', () => {
  it('is shown whole where it fits', () => {
    const tasks = [taskOf(1, 'a'), taskOf(2, 'b')];

    expect(fitTasks(tasks)).toBe(tasks);
  });

  it.each([
    ['x', 40_000],
    ['"', 10_000],
    ['\u0001', 6_000],
    ['😀', 10_000],
  ])('leaves the large parts out of what does not fit: %j', (character, length) => {
    const tasks = Array.from({ length: 100 }, (_, index) => taskOf(index, character.repeat(length)));

    const fitted = fitTasks(tasks);

    expect(responseBytes(tasks)).toBeGreaterThan(lambdaLimit);
    expect(responseBytes(fitted)).toBeLessThan(lambdaLimit);
    expect(responseBytes(fitted)).toBeGreaterThan(lambdaLimit * 0.8);
    expect(fitted.map(({ id }) => id)).toEqual(tasks.map(({ id }) => id));
    expect(fitted[0]).toBe(tasks[0]);
    expect(fitted.at(-1)).toMatchObject({ payload: {}, dependsOn: [], truncated: true, status: 'failed' });
  });

  it('gives a small task its place behind a large one', () => {
    const tasks = [taskOf(1, 'x'.repeat(4_000_000)), taskOf(2, 'y')];

    expect(fitTasks(tasks)).toMatchObject([{ id: '1', truncated: true }, tasks[1]]);
  });
});
