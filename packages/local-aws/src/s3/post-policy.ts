import { S3Error } from './error.ts';

export interface LengthRange {
  min: number;
  max: number;
}

type Condition = { operator: 'eq' | 'starts-with'; field: string; value: string; text: string };

export interface PostPolicy {
  expiration: number;
  conditions: Condition[];
  lengthRange: LengthRange | undefined;
}

/** Fields that a policy need not cover. */
const uncoveredFields = new Set(['policy', 'x-amz-signature', 'file', 'bucket']);

/** Reads the policy of a presigned POST. */
export function parsePostPolicy(base64: string): PostPolicy {
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(base64, 'base64').toString());
  } catch {
    throw invalid('Invalid JSON.');
  }
  if (typeof document !== 'object' || document === null) throw invalid('Invalid JSON.');
  const expiration = 'expiration' in document ? readTime(String(document.expiration)) : Number.NaN;
  if (Number.isNaN(expiration)) throw invalid('Policy missing expiration or it is not a date.');
  if (!('conditions' in document) || !Array.isArray(document.conditions)) throw invalid('Policy missing conditions.');
  const policy: PostPolicy = { expiration, conditions: [], lengthRange: undefined };
  for (const condition of document.conditions) readCondition(condition, policy);
  return policy;
}

/** Throws unless the policy has not expired, covers every field, and every field matches it. */
export function assertPolicy(policy: PostPolicy, fields: Map<string, string>, bucket: string, now: number): void {
  if (now > policy.expiration) throw denied('Policy expired.');
  const values = new Map(fields).set('bucket', bucket);
  for (const { operator, field, value, text } of policy.conditions) {
    const actual = values.get(field) ?? '';
    const holds = operator === 'eq' ? actual === value : actual.startsWith(value);
    if (!holds) throw denied(`Policy Condition failed: ${text}`);
  }
  const covered = new Set(policy.conditions.map((condition) => condition.field));
  const extra = [...fields.keys()].filter(
    (name) => !covered.has(name) && !uncoveredFields.has(name) && !name.startsWith('x-ignore-'),
  );
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.join(', ')}`);
}

function readCondition(condition: unknown, policy: PostPolicy): void {
  if (Array.isArray(condition)) {
    const [name, first, second] = condition;
    const operator = String(name).toLowerCase();
    if (operator === 'content-length-range' && condition.length === 3) {
      const range = { min: Number(first), max: Number(second) };
      if (!Number.isSafeInteger(range.min) || !Number.isSafeInteger(range.max)) {
        throw invalid('Invalid content-length-range.');
      }
      policy.lengthRange = narrower(policy.lengthRange, range);
      return;
    }
    const known = operator === 'eq' || operator === 'starts-with';
    if (known && condition.length === 3 && typeof first === 'string' && first.startsWith('$')) {
      const field = first.slice(1).toLowerCase();
      policy.conditions.push({ operator, field, value: String(second), text: JSON.stringify(condition) });
      return;
    }
  } else if (typeof condition === 'object' && condition !== null) {
    const [property, ...others] = Object.entries(condition);
    if (!property || others.length > 0)
      throw invalid('Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.');
    const [name, value] = property;
    const text = JSON.stringify(['eq', `$${name}`, value]);
    policy.conditions.push({ operator: 'eq', field: name.toLowerCase(), value: String(value), text });
    return;
  }
  throw invalid(`Invalid condition: ${JSON.stringify(condition)}`);
}

/** Parses a time in S3's format, which is stricter than JavaScript's. */
function readTime(text: string): number {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text) ? Date.parse(text) : Number.NaN;
}

function narrower(left: LengthRange | undefined, right: LengthRange): LengthRange {
  return left ? { min: Math.max(left.min, right.min), max: Math.min(left.max, right.max) } : right;
}

function invalid(reason: string): Error {
  return new S3Error('InvalidPolicyDocument', `Invalid Policy: ${reason}`);
}

function denied(reason: string): Error {
  return new S3Error('AccessDenied', `Invalid according to Policy: ${reason}`);
}
