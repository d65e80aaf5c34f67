import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf, RequestError, request } from '../service/request.ts';
import type { DryRun } from '../service/types.ts';
import { type Draft, type FieldProblem, jobOf, problemsByTask, tasksOfSameName } from './draft.ts';

/** What the service would say to a draft. */
export interface Check {
  /** Whether it is about the draft as it is now. */
  isCurrent: boolean;
  estimate?: DryRun;
  byTask: Map<string, FieldProblem[]>;
  others: string[];
}

/** How long a person may type before the service is asked. */
const typingMs = 350;

const unchecked: Check = { isCurrent: false, byTask: new Map(), others: [] };

/** Has the service check a draft, by a dry run, each time it has changed. */
export function useCheck(draft: Draft): Check {
  const check = useSignal<Check>(unchecked);
  const body = JSON.stringify(jobOf(draft));
  const same = tasksOfSameName(draft);
  useEffect(() => {
    if (draft.tasks.length === 0) {
      check.value = unchecked;
      return undefined;
    }
    if (same.length > 0) {
      const problem = { field: 'name', text: 'Another task has this name.' };
      check.value = { ...unchecked, isCurrent: true, byTask: new Map(same.map((key) => [key, [problem]])) };
      return undefined;
    }
    const stop = new AbortController();
    check.value = { ...check.value, isCurrent: false };
    const timer = setTimeout(async () => {
      const found = await dryRun(draft, stop.signal);
      if (!stop.signal.aborted) check.value = found;
    }, typingMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // A name that is typed into another's leaves one task less in the body.
  }, [body, same.join()]);
  return check.value;
}

async function dryRun(draft: Draft, signal: AbortSignal): Promise<Check> {
  const checked = { ...unchecked, isCurrent: true };
  try {
    const estimate = await request<DryRun>('POST', '/v1/process/jobs?dry_run=true', jobOf(draft), signal);
    return { ...checked, estimate };
  } catch (error) {
    if (error instanceof RequestError && Object.keys(error.fields).length > 0)
      return { ...checked, ...problemsByTask(draft, error.fields) };
    return { ...checked, others: [messageOf(error)] };
  }
}
