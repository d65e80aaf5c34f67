import { totalBytes } from '../../../shared/files/total-bytes.ts';
import { RecentValues } from '../../../shared/recent-values.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import type { InstantWork } from './work.ts';

/** The size of files for which an engine takes its typical time. */
const typicalBytes = 10_000_000;
/** The time for a file smaller than this depends little on its size. */
const smallBytes = 1_000_000;

/** Milliseconds of recent conversions in this environment for each byte, by account and kind. */
const recentSpeeds = new RecentValues<number>({ milliseconds: 600_000, max: 1_000 });

/** Returns whether work is expected to end in time: by the last of its kind here, or by the engine's typical time. */
export function isQuick(work: InstantWork, milliseconds: number): boolean {
  const typical = catalogue.engines.find(({ engine }) => engine === work.engine)?.resources.typicalSeconds ?? 0;
  const perByte = recentSpeeds.get(kindOf(work)) ?? (typical * 1000) / typicalBytes;
  return perByte * bytesOf(work) <= milliseconds;
}

/** Remembers how long work took. */
export function learn(work: InstantWork, engineMs: number): void {
  recentSpeeds.set(kindOf(work), engineMs / bytesOf(work));
}

/** Names the account too, so that slow files of one do not turn the conversions of others into jobs. */
function kindOf({ task, files: [first] }: InstantWork): string {
  return `${task.user} ${task.operation} ${first?.format} ${task.payload.output_format}`;
}

function bytesOf({ files }: InstantWork): number {
  return Math.max(smallBytes, totalBytes(files));
}
