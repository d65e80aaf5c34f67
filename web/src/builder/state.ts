import { computed, signal } from '@preact/signals';
import type { Job } from '../service/types.ts';
import { type Draft, draftLike, emptyDraft, restoredDraft, storedDraft } from './draft.ts';

/** Of this tab, so that a draft survives a reload but neither the tab nor a sign-out. */
const storageKey = 'lathe-draft';

/** The current draft, kept while other views are shown. */
export const draft = signal<Draft>(stored());

/** Drawing the forms of all tasks of a large job would be slow. */
const maxOpenAtFirst = 8;

/** Keys of the tasks whose forms are shown. */
export const opened = signal<ReadonlySet<string>>(openedAtFirst(draft.value));

function openedAtFirst({ tasks }: Draft): ReadonlySet<string> {
  return new Set(tasks.length > maxOpenAtFirst ? [] : tasks.map(({ key }) => key));
}

function stored(): Draft {
  const text = sessionStorage.getItem(storageKey);
  try {
    return text === null ? emptyDraft : restoredDraft(text);
  } catch {
    // Of another version of the page.
    return emptyDraft;
  }
}

/** Stores a draft until the tab is closed. */
export function storeDraft(current: Draft, isSecret: (operation: string, parameter: string) => boolean): void {
  try {
    sessionStorage.setItem(storageKey, storedDraft(current, isSecret));
  } catch {
    // The content of import/base64 may be larger than the storage. An older draft would be misleading.
    sessionStorage.removeItem(storageKey);
  }
}

const replaced = signal<{ before: Draft; after: Draft } | undefined>(undefined);

/** The draft that the current one replaced, until the current one changes. */
export const undoable = computed(() => (replaced.value?.after === draft.value ? replaced.value.before : undefined));

/** Replaces the draft. */
export function replaceDraft(next: Draft): void {
  replaced.value = draft.value.tasks.length > 0 ? { before: draft.value, after: next } : undefined;
  draft.value = next;
  opened.value = openedAtFirst(next);
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
