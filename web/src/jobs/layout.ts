/** A task and its dependencies. */
export interface Linked {
  id: string;
  dependsOn: string[];
}

interface Node {
  id: string;
  x: number;
  y: number;
}

/** An end of a line; a passing line continues on the other side of its column. */
export interface End {
  x: number;
  y: number;
  passes: boolean;
}

export interface Layout {
  width: number;
  height: number;
  nodes: Node[];
  edges: { from: End; to: End }[];
}

export const nodeSize = { width: 176, height: 56 };
const gap = { x: 64, y: 18, edge: 20 };

/** A slot in a column: a task, or a line that passes to a later column. */
interface Place {
  id?: string;
  before: Place[];
  y: number;
}

/**
 * Lays out the tasks of a job in columns: each to the right of its dependencies, near their middle. A line across several
 * columns has a slot in each, so that it crosses no task.
 */
export function layOut(tasks: Linked[]): Layout {
  const columns: Place[][] = [];
  const places = new Map<string, { place: Place; depth: number }>();
  const put = (depth: number, place: Place): Place => {
    while (columns.length <= depth) columns.push([]);
    columns[depth]?.push(place);
    return place;
  };
  const passing = (from: Place, start: number, end: number): Place => {
    let last = from;
    for (let depth = start + 1; depth < end; depth += 1) last = put(depth, { before: [last], y: 0 });
    return last;
  };
  for (const [depth, column] of columnsOf(tasks).entries())
    for (const task of column) {
      const before = task.dependsOn.flatMap((id) => {
        const found = places.get(id);
        return found ? [passing(found.place, found.depth, depth)] : [];
      });
      places.set(task.id, { place: put(depth, { id: task.id, before, y: 0 }), depth });
    }
  const step = nodeSize.height + gap.y;
  const height = Math.max(1, ...columns.map((column) => column.length)) * step - gap.y;
  for (const column of columns) arrange(column, height, step);
  const xOf = (depth: number) => gap.edge + depth * (nodeSize.width + gap.x);
  const nodes = columns.flatMap((column, depth) =>
    column.flatMap(({ id, y }) => (id === undefined ? [] : [{ id, x: xOf(depth), y }])),
  );
  const edges = columns.flatMap((column, depth) =>
    column.flatMap(({ id, before, y }) =>
      before.map((from) => ({
        from: { x: xOf(depth - 1), y: from.y, passes: from.id === undefined },
        to: { x: xOf(depth), y, passes: id === undefined },
      })),
    ),
  );
  const width = columns.length * (nodeSize.width + gap.x) - gap.x;
  return { width: width + 2 * gap.edge, height: height + 2 * gap.edge, nodes, edges };
}

function arrange(column: Place[], height: number, step: number): void {
  const middle = ({ before }: Place) =>
    before.length > 0 ? before.reduce((sum, { y }) => sum + y, 0) / before.length : 0;
  column.sort((a, b) => middle(a) - middle(b));
  const top = gap.edge + (height - (column.length * step - gap.y)) / 2;
  for (const [row, place] of column.entries()) place.y = top + row * step;
}

function columnsOf(tasks: Linked[]): Linked[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const depths = new Map<string, number>();
  const depthOf = (task: Linked): number => {
    const known = depths.get(task.id);
    if (known !== undefined) return known;
    // The service rejects cycles; one would still end here.
    depths.set(task.id, 0);
    const before = task.dependsOn.flatMap((id) => byId.get(id) ?? []);
    const depth = before.length > 0 ? Math.max(...before.map(depthOf)) + 1 : 0;
    depths.set(task.id, depth);
    return depth;
  };
  const columns: Linked[][] = [];
  for (const task of tasks) {
    const depth = depthOf(task);
    while (columns.length <= depth) columns.push([]);
    columns[depth]?.push(task);
  }
  return columns;
}
