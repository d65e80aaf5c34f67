import { existsSync, readFileSync } from 'node:fs';
import { sandboxProcesses } from '../../functions/engines/runtime/sandbox/processes.ts';

const ticksPerSecond = 100;

/**
 * Returns the seconds of processor time of this process and its ended children. Unlike wall time, it does not depend on
 * other load.
 */
export function processorSeconds(): number {
  if (!existsSync('/proc/self/stat')) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // After the name, which may hold anything: user and system time of the process, then of its children.
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return times.reduce((sum, time) => sum + Number(time), 0) / ticksPerSecond;
}

/** Runs work, and returns the seconds of processor time of all descendants of this process, including killed ones. */
export async function measureProcesses(work: () => Promise<unknown>): Promise<number> {
  const total = () =>
    sandboxProcesses(process.pid).reduce(
      (sum, { pid, ownSeconds, endedSeconds }) => sum + endedSeconds + (pid === process.pid ? 0 : ownSeconds),
      0,
    );
  const start = total();
  let most = start;
  // The time of processes killed with their parent is not counted afterwards.
  const timer = setInterval(() => {
    most = Math.max(most, total());
  }, 100);
  try {
    await work();
    return Math.max(most, total()) - start;
  } finally {
    clearInterval(timer);
  }
}
