import type { LocalStack, PolicyStatement, Principal } from '../template/model.ts';
import { wildcard } from '../wildcard.ts';

/** The caller: a role of the stack, or a service such as `s3.amazonaws.com`. */
export type Caller = { type: 'role'; arn: string; account: string } | { type: 'service'; name: string };

export interface AccessRequest {
  caller: Caller;
  action: string;
  resource: string;
  /** Returns the values of a condition key, or undefined if the request lacks it. */
  context(key: string): string[] | undefined;
}

type Operator = (actual: string, accepted: string) => boolean;

interface ConditionOperator {
  matches: Operator;
  /** A negated operator holds if the request has none of the values, so also if it lacks the key. */
  negated?: boolean;
  everyValue?: boolean;
}

const equals: Operator = (actual, accepted) => actual === accepted;
const like: Operator = (actual, accepted) => wildcard(accepted, false).test(actual);
const number = (compare: (actual: number, accepted: number) => boolean): Operator => {
  return (actual, accepted) => compare(Number(actual), Number(accepted));
};

const operators = new Map<string, ConditionOperator>([
  ['StringEquals', { matches: equals }],
  ['StringNotEquals', { matches: equals, negated: true }],
  ['StringLike', { matches: like }],
  ['ArnEquals', { matches: isArnLike }],
  ['ArnLike', { matches: isArnLike }],
  ['Bool', { matches: (actual, accepted) => actual.toLowerCase() === accepted.toLowerCase() }],
  ['NumericLessThan', { matches: number((actual, accepted) => actual < accepted) }],
  ['NumericLessThanEquals', { matches: number((actual, accepted) => actual <= accepted) }],
  ['ForAllValues:StringEquals', { matches: equals, everyValue: true }],
  ['ForAllValues:StringLike', { matches: like, everyValue: true }],
]);

const conditionKeys = new Set(
  ['s3:prefix', 'aws:SecureTransport', 'aws:SourceArn', 'aws:SourceAccount', 'dynamodb:LeadingKeys'].map((key) =>
    key.toLowerCase(),
  ),
);

/** Tags have keys of their own. */
function isKnownKey(key: string): boolean {
  return conditionKeys.has(key) || /^aws:(?:request|resource)tag\/./.test(key);
}

/**
 * Decides a request as IAM does: an explicit Deny of either policy wins, otherwise an Allow of either is enough. Caller
 * and resources belong to one account, so an Allow of the resource's policy suffices.
 */
export function isAllowed(
  request: AccessRequest,
  identityPolicy: PolicyStatement[],
  resourcePolicy: PolicyStatement[],
): boolean {
  let allowed = false;
  for (const statement of identityPolicy) {
    if (!applies(statement, request)) continue;
    if (statement.effect === 'Deny') return false;
    allowed = true;
  }
  for (const statement of resourcePolicy) {
    if (!namesCaller(statement, request.caller) || !applies(statement, request)) continue;
    if (statement.effect === 'Deny') return false;
    allowed = true;
  }
  return allowed;
}

/** Throws if a policy has a condition or resource that this module would not evaluate as AWS does. */
export function assertUnderstood({ functions, queues, buckets }: LocalStack): void {
  const owners = [
    ...functions.map(({ role }) => role),
    ...[...queues, ...buckets].map(({ logicalId, policy }) => ({ logicalId, statements: policy })),
  ];
  for (const { logicalId, statements } of owners) {
    for (const [operator, keys] of statements.flatMap(({ conditions }) => Object.entries(conditions))) {
      const key = Object.keys(keys).find((each) => !isKnownKey(each.toLowerCase()));
      const unknown = operators.has(operator) ? key && `condition key ${key}` : `condition operator ${operator}`;
      if (unknown) throw new Error(`The policy of ${logicalId} has the ${unknown}, which is not understood here`);
    }
    const patterns = statements.flatMap(({ resources, conditions }) => [
      ...resources.filter((resource) => resource !== '*' && splitArn(resource).length < arnParts),
      ...[...resources, ...valuesOf(conditions)].filter((text) => variable.test(text)),
    ]);
    const [pattern] = patterns;
    if (pattern !== undefined)
      throw new Error(`The policy of ${logicalId} has ${pattern}, which is not understood here`);
  }
}

function valuesOf(conditions: PolicyStatement['conditions']): string[] {
  return Object.values(conditions).flatMap((keys) => Object.values(keys).flat());
}

function applies(statement: PolicyStatement, request: AccessRequest): boolean {
  return (
    statement.actions.some((pattern) => wildcard(pattern, true).test(request.action)) &&
    statement.resources.some((pattern) => pattern === '*' || isArnLike(request.resource, pattern)) &&
    conditionsHold(statement, request)
  );
}

function conditionsHold(statement: PolicyStatement, request: AccessRequest): boolean {
  for (const [operator, keys] of Object.entries(statement.conditions)) {
    for (const [key, accepted] of Object.entries(keys)) {
      if (!conditionHolds(operator, request.context(key), accepted)) return false;
    }
  }
  return true;
}

function conditionHolds(name: string, actual: string[] | undefined, accepted: string[]): boolean {
  const operator = operators.get(name);
  if (!operator) throw new Error(`Unknown condition operator ${name}`);
  const isAccepted = (value: string) => accepted.some((candidate) => operator.matches(value, candidate));
  if (operator.everyValue) return (actual ?? []).every(isAccepted);
  if (operator.negated) return !(actual ?? []).some(isAccepted);
  return (actual ?? []).some(isAccepted);
}

function namesCaller(statement: PolicyStatement, caller: Caller): boolean {
  return (statement.principals ?? []).some((principal) => matchesPrincipal(principal, statement.effect, caller));
}

function matchesPrincipal(principal: Principal, effect: PolicyStatement['effect'], caller: Caller): boolean {
  if (principal.type === '*') return true;
  if (principal.type === 'Service') return caller.type === 'service' && principal.value === caller.name;
  if (principal.value === '*') return true;
  if (caller.type !== 'role') return false;
  if (principal.value === caller.arn) return true;
  // An account as principal denies to all its roles, but allows nothing: that is left to the roles' own policies.
  const account = principal.value === caller.account || principal.value === `arn:aws:iam::${caller.account}:root`;
  return effect === 'Deny' && account;
}

const arnParts = 6;
const variable = /\$\{/;

function splitArn(arn: string): string[] {
  const parts = arn.split(':');
  const last = parts.splice(arnParts - 1);
  return last.length > 0 ? [...parts, last.join(':')] : parts;
}

/** Matches an ARN by segment: a wildcard does not span the colons between them. */
function isArnLike(arn: string, pattern: string): boolean {
  const [parts, patterns] = [splitArn(arn), splitArn(pattern)];
  return parts.length === patterns.length && parts.every((part, index) => like(part, patterns[index] ?? ''));
}
