import { computed, signal } from '@preact/signals';
import type { Job } from '../service/types.ts';
import { type Draft, draftLike, emptyDraft } from './draft.ts';

/** What is being built; it stays while other views are shown. */
export const draft = signal<Draft>(emptyDraft);

/** Keys of the tasks whose forms are shown. */
export const opened = signal<ReadonlySet<string>>(new Set());

/** Forms hold lists of all formats: those of a large job would be more than a browser shows in a moment. */
const maxOpenAtFirst = 8;

const replaced = signal<{ before: Draft; after: Draft } | undefined>(undefined);

/** What was there before the present draft replaced it, until that is changed. */
export const undoable = computed(() => (replaced.value?.after === draft.value ? replaced.value.before : undefined));

/** Puts another draft in the place of this one. */
export function replaceDraft(next: Draft): void {
  replaced.value = draft.value.tasks.length > 0 ? { before: draft.value, after: next } : undefined;
  draft.value = next;
  opened.value = new Set(next.tasks.length > maxOpenAtFirst ? [] : next.tasks.map(({ key }) => key));
}

/** Starts the draft of another job like one that exists. */
export function editAsNew(job: Job): void {
  replaceDraft(draftLike(job));
}

/** Shows the form of a task. */
export function openTask(key: string): void {
  opened.value = new Set(opened.value).add(key);
}

/** Shows the form of a task, or hides it. */
export function toggleTask(key: string): void {
  const others = new Set(opened.value);
  if (others.delete(key)) opened.value = others;
  else openTask(key);
}
