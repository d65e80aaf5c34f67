import { useMemo } from 'preact/hooks';
import { spanText } from '../format.ts';
import type { Task } from '../service/types.ts';
import { type End, layOut, nodeSize } from './layout.ts';

/** Draws the tasks of a job and what each waits for. The table below it says the same in words. */
export function Graph({ tasks }: { tasks: Task[] }) {
  const { width, height, nodes, edges } = useMemo(() => layOut(tasks), [tasks]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
    <section class="graph" tabIndex={0} aria-label="Graph of the tasks">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <path class="edge" d={edges.map(({ from, to }) => curve(from, to)).join('')} />
        {nodes.map(({ task, x, y }) => (
          <g key={task.id} class={task.status} transform={`translate(${x} ${y})`}>
            <rect width={nodeSize.width} height={nodeSize.height} rx="8" />
            <text x="12" y="24">
              {short(task.name || task.operation)}
            </text>
            <text class="detail" x="12" y="42">
              {short(detailOf(task))}
            </text>
          </g>
        ))}
      </svg>
    </section>
  );
}

function curve(from: End, to: End): string {
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2];
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2];
  const bend = (x2 - x1) / 2;
  const onwards = to.passes ? `h${nodeSize.width}` : '';
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}${onwards}`;
}

function detailOf({ operation, status, startedAt, endedAt, progress }: Task): string {
  if (status === 'processing') return `${operation} · ${progress === undefined ? '…' : `${Math.round(progress)} %`}`;
  return endedAt === null || startedAt === null
    ? `${operation} · ${status}`
    : `${operation} · ${spanText(startedAt, endedAt)}`;
}

function short(text: string): string {
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}
