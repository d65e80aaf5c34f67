import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const pageBytes = 4096;

/** Returns the resident memory of a process group; processes that end meanwhile count as zero. */
export function groupMemory(group: number): number {
  if (process.platform === 'linux') return memoryFromProc(group);
  // There is no /proc on macOS.
  return residentBytes(execFileSync('ps', ['-A', '-o', 'pgid=,rss='], { encoding: 'utf8' }), group);
}

function memoryFromProc(group: number): number {
  let bytes = 0;
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      // Fields after the command in brackets, which may itself hold spaces: state, ppid, pgrp, … rss is the 22nd of them.
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[2]) === group) bytes += Number(fields[21]) * pageBytes;
    } catch {
      // The process has ended.
    }
  }
  return bytes;
}

/** Returns the sum that ps lists for a process group, in units of 1,024 bytes. */
export function residentBytes(listing: string, group: number): number {
  return listing.split('\n').reduce((bytes, line) => {
    const [owner, kilobytes] = line.trim().split(/\s+/);
    return Number(owner) === group ? bytes + Number(kilobytes) * 1024 : bytes;
  }, 0);
}
