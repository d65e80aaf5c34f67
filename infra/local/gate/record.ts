import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** One decision of the gate, with everything of the request that a policy can ask for. */
export interface RecordedDecision {
  /** Logical id of the role. */
  role: string;
  action: string;
  resource: string;
  /** The values of each condition key that the request carries. */
  conditions: Record<string, string[]>;
  isAllowed: boolean;
  /** The application that the caller's SDK names in its user agent, if any. */
  app?: string;
}

/**
 * Records each kind of decision once, in a file for this process in the folder that LATHE_GATE_RECORD names; does nothing
 * without it. Written at once, because tests kill the processes that they start.
 */
export function createRecorder(folder: string | undefined): (decision: RecordedDecision) => void {
  if (folder === undefined || folder === '') return () => {};
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${process.pid}-${randomUUID()}.jsonl`);
  const seen = new Set<string>();
  return (decision) => {
    const line = JSON.stringify(withoutIds(decision));
    if (seen.has(line)) return;
    seen.add(line);
    appendFileSync(path, `${line}\n`);
  };
}

/** Stands for what differs from call to call; no pattern of a policy names it. */
const anything = '…';

/** Keeps what policies distinguish, so that the calls of ten thousand tasks are one kind. */
function withoutIds(decision: RecordedDecision): RecordedDecision {
  const conditions = Object.entries(decision.conditions).map(([key, values]) => [
    key,
    [...new Set(values.map(shortenValue))].sort(),
  ]);
  return { ...decision, resource: shortenArn(decision.resource), conditions: Object.fromEntries(conditions) };
}

/** Shortens a key such as `task#<id>`, or a prefix such as `files/<id>/`, to its first part. */
function shortenValue(value: string): string {
  return value.replace(/^([^#/]*[#/]).+$/s, `$1${anything}`);
}

/** Shortens the key of an object to its first part, and the id of a connection to nothing. */
function shortenArn(arn: string): string {
  return arn
    .replace(/^(arn:aws:s3:::[^/]+\/)(.+)$/s, (_arn, bucket: string, key: string) => `${bucket}${shortenValue(key)}`)
    .replace(/(\/@connections\/).+$/s, `$1${anything}`);
}
