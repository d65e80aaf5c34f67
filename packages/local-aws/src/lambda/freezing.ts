import { readdirSync, readFileSync } from 'node:fs';

/**
 * Stops a process group and its descendants in other groups, as Lambda freezes an environment. Returns the processes
 * outside the group, for thawing.
 */
export function freeze(leader: number): number[] {
  signal(-leader, 'SIGSTOP');
  const others: number[] = [];
  // Each is stopped before its children are listed, so that it cannot start another in between.
  for (const pending = childrenOf(leader); pending.length > 0; ) {
    const pid = pending.pop() ?? 0;
    signal(pid, 'SIGSTOP');
    others.push(pid);
    pending.push(...childrenOf(pid));
  }
  return others;
}

/** Resumes a frozen group, and the processes that were stopped with it. */
export function thaw(leader: number, others: number[]): void {
  for (const pid of others) signal(pid, 'SIGCONT');
  signal(-leader, 'SIGCONT');
}

/** Lists the children of a process if the kernel supports it; elsewhere only the group is frozen. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function signal(target: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(target, name);
  } catch {
    // It has exited, which its exit event reports.
  }
}
