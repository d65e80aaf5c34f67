import { hash, randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyStatement } from '../template/model.ts';
import type { Caller } from './policy.ts';

/** One decision of the gate, with everything of the request that a policy can ask for. */
export interface RecordedDecision {
  /** Logical id of the role, or the name of a service that acts by itself. */
  role: string;
  action: string;
  resource: string;
  /** The values of each condition key that the request carries. */
  conditions: Record<string, string[]>;
  isAllowed: boolean;
  /** The application that the caller's SDK names in its user agent, if any. */
  app?: string;
  /** Names the file with the policies that decided. */
  policies: string;
}

/** What decided: the caller, the policy of their role, and the policy of the resource. */
export interface RecordedPolicies {
  caller: Caller;
  identity: PolicyStatement[];
  resource: PolicyStatement[];
}

export type Recorder = (decision: Omit<RecordedDecision, 'policies'>, policies: RecordedPolicies) => void;

/**
 * Records each kind of decision once, in a file for this process in the folder; does nothing
 * without it. Written at once, because tests kill the processes that they start.
 */
export function createRecorder(folder: string | undefined): Recorder {
  if (folder === undefined || folder === '') return () => {};
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${process.pid}-${randomUUID()}.jsonl`);
  const seen = new Set<string>();
  return (decision, policies) => {
    // Tests change the policies of a stack that runs, so they belong to the decision and not to the role.
    const text = JSON.stringify(policies);
    const name = hash('sha256', text).slice(0, 16);
    if (!seen.has(name)) writeFileSync(join(folder, `${name}.json`), text);
    seen.add(name);
    const line = JSON.stringify(withoutIds({ ...decision, policies: name }));
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
