import { signal } from '@preact/signals';
import type { Job } from '../service/types.ts';
import { type Draft, draftLike, emptyDraft } from './draft.ts';

/** What is being built; it stays while other views are shown. */
export const draft = signal<Draft>(emptyDraft);

/** Starts the draft of another job like one that exists. */
export function editAsNew(job: Job): void {
  draft.value = draftLike(job);
}
