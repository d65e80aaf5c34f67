import { isAllowed } from '../../../packages/local-aws/src/iam/policy.ts';
import type { RecordedDecision } from '../../../packages/local-aws/src/iam/record.ts';
import type { LocalFunction, LocalRole, PolicyStatement } from '../../../packages/local-aws/src/template/model.ts';
import { indexPartitions, partitions } from '../../../shared/aws/table-schema.ts';
import { objectPrefixes } from '../../../shared/files/keys.ts';

/** A role with one thing removed, and how that is detected. */
export interface Mutant {
  role: string;
  change: string;
  /** A recorded call that is then refused, or a newly allowed request that no function uses. */
  caughtBy?: string;
}

export interface Proof {
  roles: number;
  statements: number;
  /** Each action on each resource with each value of its condition. */
  grants: number;
  calls: number;
  /** Grants that no recorded call uses. */
  unused: string[];
  /** Recorded calls that the roles no longer allow. */
  refused: string[];
  mutants: Mutant[];
  /** Grants that no call through the gate can use, with the reason. */
  excluded: { grants: number; reason: string };
}

const excludedReason =
  'Lambda itself writes the logs of a function with its role; the local stack has no CloudWatch Logs to call.';

/** Additional request values, for finding what a role without a condition allows. */
const probes: Record<string, string[]> = {
  'dynamodb:leadingkeys': Object.values({ ...partitions, ...indexPartitions }).map((prefix) => `${prefix}probe`),
  's3:prefix': ['', ...Object.values(objectPrefixes)],
};

/** Judges the roles of a stack by the calls of its functions. */
export function prove(
  stack: { account: string; functions: Pick<LocalFunction, 'role' | 'entry'>[] },
  decisions: RecordedDecision[],
): Proof {
  const roles = [...new Set(stack.functions.map(({ role }) => role))];
  const proof: Proof = {
    roles: roles.length,
    statements: 0,
    grants: 0,
    calls: 0,
    unused: [],
    refused: [],
    mutants: [],
    excluded: { grants: 0, reason: excludedReason },
  };
  for (const role of roles) {
    const judge = judgeOf(role, stack.account);
    const own = decisions.filter((call) => call.isAllowed && call.role === role.logicalId);
    const statements = role.statements.filter(({ actions }) => !isExcluded(actions));
    const shared = peersOf(role, stack.functions).flatMap((peer) => callsAs(role, peer, decisions));
    const calls = [...own, ...shared.filter((call) => judge(statements, call))];
    proof.statements += statements.length;
    proof.calls += own.length;
    for (const { actions, resources } of role.statements.filter((each) => !statements.includes(each)))
      proof.excluded.grants += actions.length * resources.length;
    for (const call of own) if (!judge(statements, call)) proof.refused.push(`${nameOf(role)}: ${describe(call)}`);
    const parts = calls.flatMap(oneByOne);
    for (const grant of statements.flatMap(grantsOf)) {
      proof.grants += 1;
      if (!parts.some((part) => judge([grant], part))) proof.unused.push(`${nameOf(role)}: ${describeGrant(grant)}`);
    }
    proof.mutants.push(...mutantsOf(role, statements, calls, judge));
  }
  return proof;
}

/** Returns the roles of other workers with the same code: each of them would make the same calls. */
function peersOf(role: LocalRole, functions: Pick<LocalFunction, 'role' | 'entry'>[]): LocalRole[] {
  if (!isWorker(role)) return [];
  const entry = functions.find((fn) => fn.role === role)?.entry;
  return functions.filter((fn) => fn.entry === entry && fn.role !== role && isWorker(fn.role)).map((fn) => fn.role);
}

function isWorker(role: LocalRole): boolean {
  return /^Engine[a-z]+Worker$/.test(nameOf(role));
}

/** Returns the calls of a worker as another would make them, on its own resources. */
function callsAs(role: LocalRole, peer: LocalRole, decisions: RecordedDecision[]): RecordedDecision[] {
  const resources = role.statements.flatMap((statement) => statement.resources);
  return decisions
    .filter((call) => call.isAllowed && call.role === peer.logicalId)
    .flatMap((call) => {
      const counterpart = resources.find((resource) => placeOf(resource, role) === placeOf(call.resource, peer));
      return counterpart === undefined ? [call] : [call, { ...call, resource: counterpart }];
    });
}

/** Returns a resource without the hash of its name, and without the engine's name if it is the role's own. */
function placeOf(resource: string, role: LocalRole): string {
  const engine = nameOf(role).replace(/Worker$/, '');
  return resource.replace(/[0-9A-F]{8}$/, '').replace(`:${engine}`, ':Engine');
}

/** Splits a call on several keys into calls on one key each. A role must allow every key of a call. */
function oneByOne({ conditions, ...call }: RecordedDecision): RecordedDecision[] {
  let parts: Record<string, string[]>[] = [{}];
  for (const [key, values] of Object.entries(conditions))
    parts = parts.flatMap((part) => values.map((value) => ({ ...part, [key]: [value] })));
  return parts.map((part) => ({ ...call, conditions: part }));
}

type Judge = (
  statements: PolicyStatement[],
  call: Pick<RecordedDecision, 'action' | 'resource' | 'conditions'>,
) => boolean;

function judgeOf({ arn }: LocalRole, account: string): Judge {
  return (statements, { action, resource, conditions }) =>
    isAllowed(
      {
        caller: { type: 'role', arn, account },
        action,
        resource,
        context: (key) => conditions[key.toLowerCase()],
      },
      statements,
      [],
    );
}

function isExcluded(actions: string[]): boolean {
  return actions.every((action) => action.startsWith('logs:'));
}

/** Splits a statement into statements of one action, one resource and one value per condition. */
function grantsOf(statement: PolicyStatement): PolicyStatement[] {
  let grants: PolicyStatement[] = statement.actions.flatMap((action) =>
    statement.resources.map((resource) => ({ ...statement, actions: [action], resources: [resource] })),
  );
  for (const { operator, key, values } of conditionsOf(statement))
    grants = grants.flatMap((grant) => values.map((value) => withValues(grant, operator, key, [value])));
  return grants;
}

function mutantsOf(role: LocalRole, statements: PolicyStatement[], calls: RecordedDecision[], judge: Judge): Mutant[] {
  return statements.flatMap((statement) => {
    const others = statements.filter((each) => each !== statement);
    const where = `in "${describeGrant(statement)}"`;
    const narrowed = narrowings(statement).map(([what, mutated]): Mutant => {
      const call = calls.find((each) => !judge([...others, mutated], each));
      return { role: nameOf(role), change: `without ${what} ${where}`, ...(call ? { caughtBy: describe(call) } : {}) };
    });
    const widened = conditionsOf(statement).map(({ operator, key }): Mutant => {
      const mutated = [...others, withoutCondition(statement, operator, key)];
      const caughtBy = newlyAllowed(statement, key, statements, mutated, judge);
      return {
        role: nameOf(role),
        change: `without the condition on ${key} ${where}`,
        ...(caughtBy ? { caughtBy } : {}),
      };
    });
    return [...narrowed, ...widened];
  });
}

/** Returns the statement without each of its actions, resources and accepted values, one at a time. */
function narrowings(statement: PolicyStatement): [what: string, mutated: PolicyStatement][] {
  const without = (list: string[], one: string) => list.filter((each) => each !== one);
  return [
    ...statement.actions.map((action): [string, PolicyStatement] => [
      action,
      { ...statement, actions: without(statement.actions, action) },
    ]),
    ...statement.resources.map((resource): [string, PolicyStatement] => [
      shortArn(resource),
      { ...statement, resources: without(statement.resources, resource) },
    ]),
    ...conditionsOf(statement).flatMap(({ operator, key, values }) =>
      values.map((value): [string, PolicyStatement] => [
        `${key} ${value}`,
        withValues(statement, operator, key, without(values, value)),
      ]),
    ),
  ];
}

/**
 * Finds a request that only the widened role allows. The role itself allows nothing unused, so no function makes it.
 */
function newlyAllowed(
  { actions, resources }: PolicyStatement,
  key: string,
  statements: PolicyStatement[],
  widened: PolicyStatement[],
  judge: Judge,
): string | undefined {
  const values = probes[key.toLowerCase()] ?? [];
  for (const action of actions) {
    for (const resource of resources) {
      for (const value of values) {
        const request = { action, resource, conditions: { [key.toLowerCase()]: [value] } };
        if (!judge(statements, request) && judge(widened, request)) return describe(request);
      }
    }
  }
  return undefined;
}

function conditionsOf({ conditions }: PolicyStatement): { operator: string; key: string; values: string[] }[] {
  return Object.entries(conditions).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => ({ operator, key, values })),
  );
}

function withValues(statement: PolicyStatement, operator: string, key: string, values: string[]): PolicyStatement {
  const { conditions } = statement;
  return { ...statement, conditions: { ...conditions, [operator]: { ...conditions[operator], [key]: values } } };
}

function withoutCondition(statement: PolicyStatement, operator: string, key: string): PolicyStatement {
  const { [key]: _removed, ...keys } = statement.conditions[operator] ?? {};
  return { ...statement, conditions: { ...statement.conditions, [operator]: keys } };
}

function describe({
  action,
  resource,
  conditions,
}: Pick<RecordedDecision, 'action' | 'resource' | 'conditions'>): string {
  const values = Object.values(conditions).flat();
  return `${action} on ${shortArn(resource)}${values.length > 0 ? ` with ${values.join(', ')}` : ''}`;
}

function describeGrant(statement: PolicyStatement): string {
  const values = conditionsOf(statement).flatMap((condition) => condition.values);
  const where = values.length > 0 ? ` where ${values.join(', ')}` : '';
  const { resources } = statement;
  const on = resources.length > 2 ? `${resources.length} resources` : resources.map(shortArn).join(', ');
  return `${statement.actions.join(', ')} on ${on}${where}`;
}

function shortArn(arn: string): string {
  return arn.replace(/^arn:aws:[a-z0-9-]+:[^:]*:[^:]*:/, '');
}

/** Drops the CDK's suffix from the logical id of a role. */
function nameOf({ logicalId }: LocalRole): string {
  return logicalId.replace(/Role[0-9A-F]{8}$/, '');
}
