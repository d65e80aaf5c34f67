import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { type End, type Linked, layOut, nodeSize } from './layout.ts';

/** A task as the graph shows it. */
export interface GraphNode extends Linked {
  title: string;
  detail: string;
  /** Its status, which sets its style. */
  state: string;
  /** Target of a click. */
  link?: string;
}

/** Draws tasks and their dependencies. The list next to it is the accessible version. */
export function Graph({ tasks, onFollow }: { tasks: GraphNode[]; onFollow?: (id: string) => void }) {
  // States change often, positions only with the dependencies.
  const links = tasks.map(({ id, dependsOn }) => `${id}<${dependsOn}`).join();
  const { width, height, places, edges } = useMemo(() => {
    const { nodes, edges: ends, ...size } = layOut(tasks);
    return {
      ...size,
      places: new Map(nodes.map((node) => [node.id, node])),
      edges: ends.map(({ from, to }) => curve(from, to)).join(''),
    };
  }, [links]);
  const hasLinks = tasks.some(({ link }) => link !== undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="graph" tabIndex={0} aria-label="Task graph">
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the section has its name */}
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden={!hasLinks}>
        <path class="edge" d={edges} />
        {tasks.map(({ id, title, detail, state, link }) => {
          const { x = 0, y = 0 } = places.get(id) ?? {};
          return <Box key={id} {...{ id, x, y, title, detail, state, link, onFollow }} />;
        })}
      </svg>
    </section>
  );
}

interface BoxProps extends Omit<GraphNode, 'dependsOn' | 'link'> {
  x: number;
  y: number;
  link: string | undefined;
  onFollow: ((id: string) => void) | undefined;
}

/** Rendered again only when its task changes. */
const Box = memo(({ id, x, y, title, detail, state, link, onFollow }: BoxProps) => {
  const box = (
    <g class={state} transform={`translate(${x} ${y})`}>
      <rect width={nodeSize.width} height={nodeSize.height} rx="8" />
      <text x="12" y="24">
        {short(title)}
      </text>
      <text class="detail" x="12" y="42">
        {short(detail)}
      </text>
    </g>
  );
  return link === undefined ? (
    box
  ) : (
    <a href={link} onClick={() => onFollow?.(id)}>
      {box}
    </a>
  );
});

function curve(from: End, to: End): string {
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2];
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2];
  const bend = (x2 - x1) / 2;
  const onwards = to.passes ? `h${nodeSize.width}` : '';
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}${onwards}`;
}

function short(text: string): string {
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}
