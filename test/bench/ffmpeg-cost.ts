import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { ffmpegPath } from '../../functions/engines/media/programs.ts';

/** Cores of the largest Lambda function. That many threads show how many of them a program can use, on any machine. */
export const lambdaCores = 6;
const ticksPerSecond = 100;

/** The cost of a run of ffmpeg. */
export interface Cost {
  /** CPU time of the whole program, independent of this machine's cores. */
  cpuSeconds: number;
  /** How many cores it can use: its CPU time divided by that of its busiest thread. */
  cores: number;
}

/** Runs ffmpeg, and throws if it fails. */
export async function ffmpeg(args: string[]): Promise<void> {
  await costOf(args);
}

/** Runs ffmpeg and returns its cost. */
export async function costOf(args: string[]): Promise<Cost> {
  const child = spawn(ffmpegPath(), ['-v', 'error', '-nostdin', '-y', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const used = new Map<string, number>();
  const watch = setInterval(() => sample(child.pid ?? 0, used), 10);
  const [code] = await once(child, 'exit');
  clearInterval(watch);
  if (code !== 0) throw new Error(`ffmpeg ended with code ${code}: ${args.join(' ')}`);
  const all = [...used.values()];
  const total = all.reduce((sum, ticks) => sum + ticks, 0);
  return { cpuSeconds: total / ticksPerSecond, cores: total / Math.max(...all) };
}

/** Reads the CPU time of each thread of a process from Linux. */
function sample(pid: number, used: Map<string, number>): void {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      used.set(thread, Number(fields[11]) + Number(fields[12]));
    }
  } catch {
    // The process or thread has just ended.
  }
}
