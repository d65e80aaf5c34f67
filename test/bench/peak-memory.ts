import { readFileSync } from 'node:fs';

/** Returns the peak resident memory of a process in bytes. */
export function peakMemory(process: number | 'self' = 'self'): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1]) * 1024;
}
