import { describe, expect, it } from 'vitest';
import { type Linked, layOut, nodeSize } from '../../../web/src/jobs/layout.ts';

function task(id: string, ...dependsOn: string[]): Linked {
  return { id, dependsOn };
}

describe('the graph of a job', () => {
  it('has each task right of what it depends on', () => {
    const tasks = [task('d', 'b', 'c'), task('b', 'a'), task('c', 'a'), task('a')];
    const x = new Map(layOut(tasks).nodes.map((node) => [node.id, node.x]));
    for (const { id, dependsOn } of tasks)
      for (const before of dependsOn) expect(x.get(id)).toBeGreaterThan(x.get(before) ?? Number.NaN);
  });

  it('leads a line over several columns past the tasks between them', () => {
    const { nodes, edges } = layOut([task('a'), task('b', 'a'), task('c', 'b', 'a')]);
    const passing = edges.filter(({ to }) => to.passes);
    expect(passing).toHaveLength(1);
    expect(nodes.some(({ x, y }) => x === passing[0]?.to.x && y === passing[0]?.to.y)).toBe(false);
  });

  it('has no task over another, with 200 of them in a moment', () => {
    const tasks = Array.from({ length: 200 }, (_, index) =>
      task(`t${index}`, ...(index < 10 ? [] : [`t${index - 10}`, `t${Math.floor(index / 2)}`])),
    );
    const before = process.cpuUsage();
    const { nodes, width, height } = layOut(tasks);
    // Processor time, because other programs run too.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
    expect(nodes).toHaveLength(200);
    const isOver = nodes.some((a, index) =>
      nodes.slice(index + 1).some((b) => Math.abs(a.x - b.x) < nodeSize.width && Math.abs(a.y - b.y) < nodeSize.height),
    );
    expect(isOver).toBe(false);
    for (const { x, y } of nodes) {
      expect(x + nodeSize.width).toBeLessThanOrEqual(width);
      expect(y + nodeSize.height).toBeLessThanOrEqual(height);
    }
  });

  it('ends where tasks depend on each other, or on what is not shown', () => {
    expect(layOut([task('a', 'b'), task('b', 'a'), task('c', 'gone')]).nodes).toHaveLength(3);
    expect(layOut([]).nodes).toEqual([]);
  });
});
