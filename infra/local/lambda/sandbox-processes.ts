import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';

/**
 * Kills the process group of an image function's process, the descendants that left the group, and those that
 * lost their parent but still name the sandbox's folder in their environment.
 */
export function killSandboxProcesses(leader: number, folder: string): void {
  for (const pid of strayProcesses(leader, folder)) {
    kill(-pid);
    kill(pid);
  }
  // Last, for the caller may be the leader itself.
  kill(-leader);
}

/** Ends the calling process, leader of its group, with all it started and its folder, because its host has ended. */
export function abandonSandbox(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } finally {
    killSandboxProcesses(process.pid, folder);
  }
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // Already ended, or not the leader of a group.
  }
}

function strayProcesses(leader: number, folder: string): number[] {
  const parents = existsSync('/proc/self/stat') ? parentsFromProc() : parentsFromPs();
  const members = new Set([leader]);
  for (const pid of parents.keys()) {
    if (pid !== process.pid && environmentNames(pid, folder)) members.add(pid);
  }
  // A child may have a lower number than its parent, so one pass is not enough.
  for (let size = 0; size !== members.size; ) {
    size = members.size;
    for (const [pid, parent] of parents) if (members.has(parent)) members.add(pid);
  }
  members.delete(leader);
  members.delete(process.pid);
  return [...members];
}

function environmentNames(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder);
  } catch {
    return false;
  }
}

function parentsFromProc(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The command's name may hold spaces and parentheses; the fields after its last one do not.
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      parents.set(Number(name), Number(parent));
    } catch {
      // Ended while being read.
    }
  }
  return parents;
}

function parentsFromPs(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const line of execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/);
    if (pid && parent) parents.set(Number(pid), Number(parent));
  }
  return parents;
}
