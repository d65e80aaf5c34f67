import { hash, randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyStatement } from '../template/model.ts';
import type { Caller } from './policy.ts';

/** A decision of the gate, with every property of the request that a policy can check. */
export interface RecordedDecision {
  /** Logical id of the role, or the name of a service. */
  role: string;
  action: string;
  resource: string;
  /** The values of each condition key in the request. */
  conditions: Record<string, string[]>;
  isAllowed: boolean;
  /** The application in the user agent of the caller's SDK, if any. */
  app?: string;
  /** The file with the policies of the decision. */
  policies: string;
}

/** The basis of a decision: the caller, and the policies of their role and the resource. */
export interface RecordedPolicies {
  caller: Caller;
  identity: PolicyStatement[];
  resource: PolicyStatement[];
}

export type Recorder = (decision: Omit<RecordedDecision, 'policies'>, policies: RecordedPolicies) => void;

/**
 * Records each kind of decision once, in a file per process in the folder; does nothing without a folder. Written
 * synchronously, because tests kill the processes they start.
 */
export function createRecorder(folder: string | undefined): Recorder {
  if (folder === undefined || folder === '') return () => {};
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${process.pid}-${randomUUID()}.jsonl`);
  const seen = new Set<string>();
  return (decision, policies) => {
    // Tests change the policies of a running stack, so they belong to the decision, not to the role.
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

/** Replaces values that differ from call to call. No policy pattern contains it. */
const anything = '…';

/** Keeps what policies distinguish, so that calls of ten thousand tasks are one kind. */
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

/** Shortens an object key to its first part, and removes a connection id. */
function shortenArn(arn: string): string {
  return arn
    .replace(/^(arn:aws:s3:::[^/]+\/)(.+)$/s, (_arn, bucket: string, key: string) => `${bucket}${shortenValue(key)}`)
    .replace(/(\/@connections\/).+$/s, `$1${anything}`);
}
