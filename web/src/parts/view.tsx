import type { ComponentChildren } from 'preact';
import type { Loaded } from './load.ts';
import { Problem } from './notice.tsx';

/** Shows the head of a view, and its content as soon as that is loaded. */
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

/** Shows a state by its word and colour. */
export function Status({ of }: { of: string }) {
  return <span class={`status ${of}`}>{of}</span>;
}

/** Wraps what may be wider than a phone; it scrolls by itself, by keyboard as well. */
export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
    <section class="card scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

/** Shows what is shown this once, with a button that copies it. */
export function Secret({ value, label }: { value: string; label: string }) {
  return (
    <div class="notice good" role="status">
      <p>
        <strong>{label}</strong> It is shown this once: keep it where secrets are kept.
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
