import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const pageBytes = 4096;
const ticksPerSecond = 100;

export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  residentBytes: number;
  /** Start time, in a unit of the system: process IDs are reused. */
  started: number;
  /** Processor time in seconds, of the process itself and of its ended children. */
  ownSeconds: number;
  endedSeconds: number;
}

/**
 * Lists the processes of a sandbox: its supervisor, all descendants, and those in its process group. If the system does not
 * assign orphans to the supervisor, processes with the sandbox's folder in their environment count too.
 */
export function sandboxProcesses(supervisor: number, mark?: string): ProcessRow[] {
  const rows = existsSync('/proc/self/stat') ? processRows(readdirSync('/proc')) : rowsFromPs();
  const children = Map.groupBy(rows, ({ parent }) => parent);
  const roots = rows.filter(
    (row) =>
      row.pid === supervisor || row.group === supervisor || (mark !== undefined && environmentNames(row.pid, mark)),
  );
  const found = new Map<number, ProcessRow>();
  for (let next = roots; next.length > 0; ) {
    const fresh = next.filter(({ pid }) => !found.has(pid));
    for (const row of fresh) found.set(row.pid, row);
    next = fresh.flatMap(({ pid }) => children.get(pid) ?? []);
  }
  return [...found.values()];
}

/**
 * Returns whether processes have children other than each other and the expected ones, by process ID in the sandbox.
 * Cheap if the system lists children: the machine may have hundreds of unrelated processes.
 */
export function haveOtherChildren(pids: Set<number>, expected: Set<number>): boolean {
  const isOther = (child: number) => !pids.has(child) && !expected.has(innerPid(child));
  try {
    return [...pids].some((pid) => childrenOf(pid).some(isOther));
  } catch {
    // The thread has ended, or the system does not list children.
    return true;
  }
}

/**
 * Lists processes with their descendants, as cheaply as above. Returns `undefined` if the system does not list children, or if
 * threads end meanwhile. May miss a process whose parent ends meanwhile.
 */
export function withDescendants(pids: Iterable<number>): ProcessRow[] | undefined {
  const found = new Set<number>();
  try {
    for (let next = [...pids]; next.length > 0; ) {
      const fresh = next.filter((pid) => !found.has(pid));
      for (const pid of fresh) found.add(pid);
      next = fresh.flatMap(childrenOf);
    }
  } catch {
    return undefined;
  }
  return processRows([...found].map(String));
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')
      .split(' ')
      .flatMap((child) => (child === '' ? [] : Number(child))),
  );
}

/** Returns the resident memory of processes. Ended processes count as zero. */
export function memoryOf(rows: ProcessRow[]): number {
  return rows.reduce((bytes, row) => bytes + row.residentBytes, 0);
}

/** Returns the ID of a process in its innermost PID namespace. */
export function innerPid(pid: number): number {
  try {
    const [, numbers] = /^NSpid:\s*(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(numbers?.trim().split(/\s+/).at(-1) ?? pid);
  } catch {
    // It has ended, or the system has no namespaces.
    return pid;
  }
}

/** Kills a process. Does nothing if it has ended. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function environmentNames(pid: number, mark: string): boolean {
  try {
    return pid !== process.pid && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
  } catch {
    return false;
  }
}

/** Reads processes from /proc, skipping other entries. */
function processRows(names: string[]): ProcessRow[] {
  return names.flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // Fields after the command in brackets, which may contain spaces: state, parent, group, … the 12th to 15th are
      // processor times, the 20th is the start and the 22nd is rss.
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') return [];
      return {
        pid: Number(name),
        parent: Number(fields[1]),
        group: Number(fields[2]),
        residentBytes: Number(fields[21]) * pageBytes,
        started: Number(fields[19]),
        ownSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
        endedSeconds: (Number(fields[13]) + Number(fields[14])) / ticksPerSecond,
      };
    } catch {
      // The process has ended.
      return [];
    }
  });
}

function rowsFromPs(): ProcessRow[] {
  return rowsOf(execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,rss=,time='], { encoding: 'utf8' }));
}

/** Parses the output of ps: process, parent, group, memory in units of 1,024 bytes, and processor time as `minutes:seconds`. */
export function rowsOf(listing: string): ProcessRow[] {
  return listing.split('\n').flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    const [pid = 0, parent = 0, group = 0, kilobytes = 0] = columns.map(Number);
    const ownSeconds = (columns[4] ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
    return pid > 0
      ? { pid, parent, group, residentBytes: kilobytes * 1024, started: 0, ownSeconds, endedSeconds: 0 }
      : [];
  });
}
