import { describe, expect, it } from 'vitest';
import type { RecordedDecision } from '../../../packages/local-aws/src/iam/record.ts';
import type { LocalFunction, PolicyStatement } from '../../../packages/local-aws/src/template/model.ts';
import { prove } from '../../commands/permissions/proof.ts';

const table = 'arn:aws:dynamodb:us-east-1:1:table/T';

function keys(...values: string[]): PolicyStatement['conditions'] {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': values } };
}

function allow(
  actions: string[],
  resources: string[],
  conditions: PolicyStatement['conditions'] = {},
): PolicyStatement {
  return { effect: 'Allow', actions, resources, conditions };
}

function stackOf(...statements: PolicyStatement[]) {
  const role = { logicalId: 'SomeRole12345678', arn: 'arn:aws:iam::1:role/Some', statements };
  const fn: Pick<LocalFunction, 'role' | 'entry'> = { role, entry: 'some.ts' };
  return { account: '1', functions: [fn] };
}

function call(action: string, ...leadingKeys: string[]): RecordedDecision {
  const conditions = { 'dynamodb:leadingkeys': leadingKeys };
  return { role: 'SomeRole12345678', action, resource: table, conditions, isAllowed: true, policies: '' };
}

function survivorsOf(...args: Parameters<typeof prove>): string[] {
  return prove(...args)
    .mutants.filter(({ caughtBy }) => caughtBy === undefined)
    .map(({ role, change }) => `${role} ${change}`);
}

describe('prove', () => {
  it('finds nothing where each grant is used', () => {
    const stack = stackOf(allow(['dynamodb:GetItem'], [table], keys('task#*', 'job#*')));
    const proof = prove(stack, [call('dynamodb:GetItem', 'task#…'), call('dynamodb:GetItem', 'job#…')]);

    expect(proof).toMatchObject({ roles: 1, statements: 1, grants: 2, unused: [], refused: [] });
    expect(proof.mutants.map(({ change }) => change.split(' in ')[0])).toEqual([
      'without dynamodb:GetItem',
      'without table/T',
      'without dynamodb:LeadingKeys task#*',
      'without dynamodb:LeadingKeys job#*',
      'without the condition on dynamodb:LeadingKeys',
    ]);
    expect(proof.mutants.every(({ caughtBy }) => caughtBy !== undefined)).toBe(true);
  });

  it.each([
    ['an action', allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [table], keys('task#*')), 'dynamodb:PutItem'],
    ['a resource', allow(['dynamodb:GetItem'], [table, `${table}/index/i`], keys('task#*')), 'table/T/index/i'],
    ['a kind of item', allow(['dynamodb:GetItem'], [table], keys('task#*', 'key#*')), 'dynamodb:LeadingKeys key#*'],
  ])('names %s that no call uses', (_what, statement, unused) => {
    const stack = stackOf(statement);
    const calls = [call('dynamodb:GetItem', 'task#…')];

    expect(prove(stack, calls).unused).toHaveLength(1);
    expect(survivorsOf(stack, calls)).toEqual([expect.stringContaining(`Some without ${unused} `)]);
  });

  it('counts each kind of item of one call on several', () => {
    const stack = stackOf(allow(['dynamodb:BatchGetItem'], [table], keys('task#*', 'job#*', 'key#*')));

    expect(prove(stack, [call('dynamodb:BatchGetItem', 'task#…', 'job#…')]).unused).toEqual([
      expect.stringContaining('key#*'),
    ]);
  });

  it('judges the workers of engines, which run one program, by the calls of all of them', () => {
    const queue = (engine: string) =>
      `arn:aws:sqs:us-east-1:1:Engine${engine}WorkQueue${engine === 'a' ? '1' : '2'}2345678`;
    const worker = (engine: string, ...others: string[]) => ({
      entry: 'worker.ts',
      role: {
        logicalId: `Engine${engine}WorkerRole12345678`,
        arn: '',
        statements: [allow(['sqs:DeleteMessage'], [queue(engine), ...others])],
      },
    });
    const stack = { account: '1', functions: [worker('a'), worker('b', queue('a'))] };
    const used = {
      ...call('sqs:DeleteMessage'),
      role: 'EngineaWorkerRole12345678',
      resource: queue('a'),
      conditions: {},
    };

    expect(prove(stack, [used]).unused).toEqual([]);
    const apart = { ...stack, functions: stack.functions.map((fn, index) => ({ ...fn, entry: `${index}.ts` })) };
    expect(prove(apart, [used]).unused).toHaveLength(2);
  });

  it('names a grant that two statements make, since either can go unnoticed', () => {
    const grant = allow(['dynamodb:GetItem'], [table], keys('task#*'));

    expect(survivorsOf(stackOf(grant, { ...grant }), [call('dynamodb:GetItem', 'task#…')])).not.toEqual([]);
  });

  it('names a condition that excludes no kind of item', () => {
    const stack = stackOf(allow(['dynamodb:GetItem'], [table], keys('*')));

    expect(survivorsOf(stack, [call('dynamodb:GetItem', 'task#…')])).toEqual([
      expect.stringContaining('without the condition'),
    ]);
  });

  it('names a call that is no longer allowed, and ignores calls that were refused and those of other roles', () => {
    const stack = stackOf(allow(['dynamodb:GetItem'], [table], keys('task#*')));
    const calls = [
      call('dynamodb:GetItem', 'task#…'),
      call('dynamodb:GetItem', 'task#…', 'key#…'),
      { ...call('dynamodb:Scan'), isAllowed: false },
      { ...call('dynamodb:Scan'), role: 'OtherRole12345678' },
    ];

    expect(prove(stack, calls).refused).toEqual(['Some: dynamodb:GetItem on table/T with task#…, key#…']);
  });

  it('counts the grants of logs apart, with the reason', () => {
    const stack = stackOf(allow(['logs:CreateLogStream', 'logs:PutLogEvents'], ['arn:aws:logs:us-east-1:1:x']));

    expect(prove(stack, [])).toMatchObject({ statements: 0, mutants: [], excluded: { grants: 2 } });
  });
});
