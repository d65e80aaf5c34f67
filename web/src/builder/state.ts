import { computed, signal } from '@preact/signals';
import type { Job } from '../service/types.ts';
import { type Draft, draftLike, emptyDraft } from './draft.ts';

/** The current draft, kept while other views are shown. */
export const draft = signal<Draft>(emptyDraft);

/** Keys of the tasks whose forms are shown. */
export const opened = signal<ReadonlySet<string>>(new Set());

/** Each form lists all formats, so opening all forms of a large job would be slow. */
const maxOpenAtFirst = 8;

const replaced = signal<{ before: Draft; after: Draft } | undefined>(undefined);

/** The draft that the current one replaced, until the current one changes. */
export const undoable = computed(() => (replaced.value?.after === draft.value ? replaced.value.before : undefined));

/** Replaces the draft. */
export function replaceDraft(next: Draft): void {
  replaced.value = draft.value.tasks.length > 0 ? { before: draft.value, after: next } : undefined;
  draft.value = next;
  opened.value = new Set(next.tasks.length > maxOpenAtFirst ? [] : next.tasks.map(({ key }) => key));
}

/** Replaces the draft with one like an existing job. */
export function editAsNew(job: Job): void {
  replaceDraft(draftLike(job));
}

/** Shows the form of a task. */
export function openTask(key: string): void {
  opened.value = new Set(opened.value).add(key);
}

/** Shows or hides the form of a task. */
export function toggleTask(key: string): void {
  const others = new Set(opened.value);
  if (others.delete(key)) opened.value = others;
  else openTask(key);
}

/** Focuses an element after the next render. */
export function focusOn(id: string): void {
  requestAnimationFrame(() => document.getElementById(id)?.focus());
}
