import { readdir, readFile } from 'node:fs/promises';
import { until } from './until.ts';

export interface ProcessView {
  pid: number;
  parent: number;
  command: string;
}

/** Lists all descendants of a process. */
export async function descendantsOf(pid: number): Promise<ProcessView[]> {
  const all = await processes();
  const found: ProcessView[] = [];
  const pending = [pid];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    const children = all.filter((process) => process.parent === parent);
    found.push(...children);
    pending.push(...children.map((child) => child.pid));
  }
  return found;
}

/** Waits until all of these processes have ended. */
export async function allGone(expected: ProcessView[], seconds = 15): Promise<void> {
  await until(
    `the processes ${expected.map(({ pid }) => pid).join(', ')} have ended`,
    async () => {
      const alive = new Map((await processes()).map((process) => [process.pid, process.command]));
      return expected.every(({ pid, command }) => alive.get(pid) !== command);
    },
    { seconds },
  );
}

/** Reads the process table, without zombies. */
async function processes(): Promise<ProcessView[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = await Promise.all(
    names.map(async (name): Promise<ProcessView[]> => {
      try {
        const stat = await readFile(`/proc/${name}/stat`, 'utf8');
        const command = await readFile(`/proc/${name}/cmdline`, 'utf8');
        // The fields after the name in brackets, which may contain spaces: state, parent, …
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state === 'Z' || state === 'X'
          ? []
          : [{ pid: Number(name), parent: Number(parent), command: command.replaceAll('\0', ' ') }];
      } catch {
        return [];
      }
    }),
  );
  return read.flat();
}

/** Returns whether a process is alive; a zombie is not. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/\) [ZX] /.test(stat);
}
