import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf, RequestError, request } from '../service/request.ts';
import type { DryRun } from '../service/types.ts';
import { type Draft, type FieldProblem, jobOf, problemsByTask, tasksOfSameName } from './draft.ts';

/** The result of checking a draft. */
export interface Check {
  /** Whether it applies to the current draft. */
  isCurrent: boolean;
  estimate?: DryRun;
  byTask: Map<string, FieldProblem[]>;
  others: string[];
}

/** Delay after the last change before the service is called. */
const typingMs = 350;

const unchecked: Check = { isCurrent: false, byTask: new Map(), others: [] };

/** Checks a draft with a dry run whenever it changes. */
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
    // Two tasks with the same name are one task in the body.
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
