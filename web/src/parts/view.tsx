import type { ComponentChildren } from 'preact';
import type { Loaded } from './load.ts';
import { Empty, Problem } from './notice.tsx';

/** Shows the heading of a view, and its content once that is loaded. */
export function View<T>({
  title,
  lead,
  from,
  children,
}: {
  title: string;
  lead?: string;
  from: Loaded<T>;
  children(data: T): ComponentChildren;
}) {
  const data = from.data.value;
  return (
    <div class="stack">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {from.problem.value !== '' && <Problem text={from.problem.value} retry={from.reload} />}
      {data !== undefined && children(data)}
      {data === undefined && from.problem.value === '' && <div class="skeleton" aria-busy="true" />}
    </div>
  );
}

/** Shows figures with their names. */
export function Figures({ rows, ...attributes }: { rows: [name: string, value: ComponentChildren][]; class: string }) {
  return (
    <dl {...attributes}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows a status. Screen readers announce changes of a live one. */
export function Status({ of, isLive = false }: { of: string; isLive?: boolean }) {
  return (
    <span class={`status ${of}`} aria-live={isLive ? 'polite' : undefined}>
      {of}
    </span>
  );
}

/** Shows rows as a table, on narrow screens as a list of their cells, or a card with `empty` if there are none. */
export function Table<T>({
  label,
  columns,
  rows,
  hasActions = false,
  empty,
  children,
}: {
  label: string;
  columns: string[];
  rows: T[];
  hasActions?: boolean;
  /** The title and text that are shown instead if there are no rows. */
  empty?: [title: string, text: ComponentChildren];
  children(row: T): ComponentChildren;
}) {
  if (rows.length === 0 && empty)
    return (
      <div class="card">
        <Empty title={empty[0]}>
          <p>{empty[1]}</p>
        </Empty>
      </div>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="card scroll" aria-label={label} tabIndex={0}>
      {/* Narrow screens hide the head, and repeat the names of the columns in the cells. */}
      <table
        ref={(table) =>
          columns.forEach((column, at) => void table?.style.setProperty(`--column-${at + 1}`, JSON.stringify(column)))
        }
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
            {hasActions && (
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{rows.map(children)}</tbody>
      </table>
    </section>
  );
}

/** Shows a secret that cannot be shown again, with a button to copy it. */
export function Secret({ value, label }: { value: string; label: string }) {
  return (
    <div class="notice good" role="status">
      <p>
        <strong>{label}</strong> Store it securely. It is not shown again.
      </p>
      <div class="secret">
        <code>{value}</code>
        <button type="button" onClick={() => void navigator.clipboard.writeText(value)}>
          Copy
        </button>
      </div>
    </div>
  );
}
