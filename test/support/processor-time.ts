import { existsSync, readFileSync } from 'node:fs';
import { sandboxProcesses } from '../../functions/engines/runtime/sandbox/processes.ts';

const ticksPerSecond = 100;

/**
 * Returns the seconds of processor time that this process has used, with the programs it started that have ended. Unlike the
 * time of a clock it is the same on a machine where others work, too.
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

/** Runs work, and returns the seconds of processor time that all processes below this one used for it, killed ones included. */
export async function measureProcesses(work: () => Promise<unknown>): Promise<number> {
  const total = () =>
    sandboxProcesses(process.pid).reduce(
      (sum, { pid, ownSeconds, endedSeconds }) => sum + endedSeconds + (pid === process.pid ? 0 : ownSeconds),
      0,
    );
  const start = total();
  let most = start;
  // What is killed with its parent is counted by nobody afterwards.
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
