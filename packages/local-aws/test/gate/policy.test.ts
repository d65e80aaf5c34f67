import { describe, expect, it } from 'vitest';
import { type AccessRequest, assertUnderstood, isAllowed } from '../../src/iam/policy.ts';
import type { PolicyStatement } from '../../src/template/model.ts';
import { accountId, allow, bucketArn, makeStack, nothing } from './fixture.ts';

const objectArn = 'arn:aws:s3:::files/a/b';

function request(extra: Partial<AccessRequest> = {}, context: Record<string, string[]> = {}): AccessRequest {
  return {
    caller: { type: 'role', arn: nothing.arn, account: accountId },
    action: 's3:GetObject',
    resource: objectArn,
    context: (key) => context[key],
    ...extra,
  };
}

const deny = (actions: string[], resources: string[], extra: Partial<PolicyStatement> = {}) =>
  allow(actions, resources, { effect: 'Deny', ...extra });

describe('isAllowed', () => {
  it('denies what nothing allows', () => {
    expect(isAllowed(request(), [], [])).toBe(false);
  });

  it.each([
    ['the very action and resource', 's3:GetObject', objectArn, true],
    ['an action in other case', 'S3:getobject', objectArn, true],
    ['a resource in other case', 's3:GetObject', 'arn:aws:s3:::Files/a/b', false],
    ['any action', '*', objectArn, true],
    ['actions that begin so', 's3:Get*', objectArn, true],
    ['other actions', 's3:Put*', objectArn, false],
    ['a star over slashes', 's3:GetObject', 'arn:aws:s3:::files/*', true],
    ['a question mark for one character', 's3:GetObject', 'arn:aws:s3:::files/?/b', true],
    ['a question mark for no more than one', 's3:GetObject', 'arn:aws:s3:::files/?', false],
    ['a prefix without a star', 's3:GetObject', 'arn:aws:s3:::files/a', false],
    ['a star in several parts of an ARN', 's3:GetObject', 'arn:*:s3:*:*:files/*', true],
    ['no star over the colons of an ARN', 's3:GetObject', 'arn:aws:s3:*', false],
    ['no star over some of the colons of an ARN', 's3:GetObject', 'arn:aws:*:files/a/b', false],
    ['a dot as a dot', 's3:GetObject', 'arn:aws:s3:::files.a/b', false],
  ])('matches %s', (_what, action, resource, expected) => {
    expect(isAllowed(request(), [allow([action], [resource])], [])).toBe(expected);
  });

  it('treats regular expression characters in a pattern literally', () => {
    const statement = allow(['s3:GetObject'], ['arn:aws:s3:::files/(a|b)+[c]']);

    expect(isAllowed(request({ resource: 'arn:aws:s3:::files/(a|b)+[c]' }), [statement], [])).toBe(true);
    expect(isAllowed(request({ resource: 'arn:aws:s3:::files/ac' }), [statement], [])).toBe(false);
  });

  it('lets an explicit deny of either policy win in any order', () => {
    const grant = allow(['s3:*'], ['*']);
    const everyone = { principals: [{ type: '*' as const, value: '*' }] };

    expect(isAllowed(request(), [grant, deny(['s3:GetObject'], ['*'])], [])).toBe(false);
    expect(isAllowed(request(), [deny(['s3:GetObject'], ['*']), grant], [])).toBe(false);
    expect(isAllowed(request(), [grant], [deny(['s3:GetObject'], ['*'], everyone)])).toBe(false);
  });

  it.each([
    ['the role', { type: 'AWS', value: nothing.arn }, true],
    ['another role', { type: 'AWS', value: 'arn:aws:iam::1:role/Other' }, false],
    ['everyone', { type: '*', value: '*' }, true],
    ['every AWS principal', { type: 'AWS', value: '*' }, true],
    ['the account, which leaves it to the role', { type: 'AWS', value: `arn:aws:iam::${accountId}:root` }, false],
    ['a service', { type: 'Service', value: 's3.amazonaws.com' }, false],
  ] as const)('allows by a resource policy that names %s', (_what, principal, expected) => {
    expect(isAllowed(request(), [], [allow(['s3:*'], ['*'], { principals: [principal] })])).toBe(expected);
  });

  it('denies to every role when a resource policy denies to the account', () => {
    const statement = deny(['s3:*'], ['*'], { principals: [{ type: 'AWS', value: accountId }] });

    expect(isAllowed(request(), [allow(['s3:*'], ['*'])], [statement])).toBe(false);
  });

  it('allows a service only if the statement names it', () => {
    const service = request({ caller: { type: 'service', name: 's3.amazonaws.com' } });
    const named = (value: string) => allow(['s3:*'], ['*'], { principals: [{ type: 'Service', value }] });

    expect(isAllowed(service, [], [named('s3.amazonaws.com')])).toBe(true);
    expect(isAllowed(service, [], [named('sns.amazonaws.com')])).toBe(false);
  });

  it.each([
    ['StringEquals', ['a', 'b'], ['b'], true],
    ['StringEquals', ['a'], ['A'], false],
    ['StringEquals', ['a'], undefined, false],
    ['StringNotEquals', ['a'], ['b'], true],
    ['StringNotEquals', ['a'], ['a'], false],
    ['StringNotEquals', ['a'], undefined, true],
    ['StringLike', ['mine/*'], ['mine/x/y'], true],
    ['StringLike', ['mine/*'], ['theirs/x'], false],
    ['StringLike', ['mine/*'], undefined, false],
    ['ArnLike', ['arn:aws:s3:::fil*'], ['arn:aws:s3:::files'], true],
    ['ArnEquals', ['arn:aws:s3:::files'], ['arn:aws:s3:::other'], false],
    ['Bool', ['true'], ['TRUE'], true],
    ['Bool', ['false'], ['true'], false],
    ['Bool', ['false'], undefined, false],
    ['NumericLessThan', ['10'], ['9'], true],
    ['NumericLessThan', ['10'], ['10'], false],
    ['NumericLessThanEquals', ['10'], ['10'], true],
    ['NumericLessThanEquals', ['10'], ['none'], false],
    ['ForAllValues:StringEquals', ['a', 'b'], ['a', 'b'], true],
    ['ForAllValues:StringEquals', ['a', 'b'], ['a', 'c'], false],
    ['ForAllValues:StringEquals', ['a'], undefined, true],
    ['ForAllValues:StringLike', ['a*'], ['a1', 'a2'], true],
    ['ForAllValues:StringLike', ['a*'], ['a1', 'b2'], false],
  ])('judges %s of %j against %j as %s', (operator, accepted, actual, expected) => {
    const statement = allow(['*'], ['*'], { conditions: { [operator]: { key: accepted } } });

    expect(isAllowed(request({}, actual ? { key: actual } : {}), [statement], [])).toBe(expected);
  });

  it('requires every condition of a statement to hold', () => {
    const conditions = { StringEquals: { one: ['1'], two: ['2'] }, Bool: { three: ['true'] } };
    const statement = allow(['*'], ['*'], { conditions });

    expect(isAllowed(request({}, { one: ['1'], two: ['2'], three: ['true'] }), [statement], [])).toBe(true);
    expect(isAllowed(request({}, { one: ['1'], two: ['2'], three: ['false'] }), [statement], [])).toBe(false);
    expect(isAllowed(request({}, { one: ['1'], three: ['true'] }), [statement], [])).toBe(false);
  });
});

describe('assertUnderstood', () => {
  const stackWith = (conditions: PolicyStatement['conditions']) => {
    const stack = makeStack('http://127.0.0.1:1');
    for (const bucket of stack.buckets) bucket.policy = [allow(['s3:*'], ['*'], { conditions })];
    return stack;
  };

  it('accepts the policies of the stack', () => {
    expect(() => assertUnderstood(stackWith({ StringLike: { 's3:prefix': ['a'] } }))).not.toThrow();
  });

  it('throws on an operator or key that it would misjudge', () => {
    expect(() => assertUnderstood(stackWith({ IpAddress: { 'aws:SourceArn': ['a'] } }))).toThrow(/IpAddress/);
    expect(() => assertUnderstood(stackWith({ StringEquals: { 'aws:PrincipalTag/x': ['a'] } }))).toThrow(
      /aws:PrincipalTag/,
    );
  });

  it.each(['arn:aws:s3:files', `${bucketArn}/\${aws:username}/*`])('throws on the resource %s', (resource) => {
    const stack = makeStack('http://127.0.0.1:1');
    for (const bucket of stack.buckets) bucket.policy = [allow(['s3:*'], [resource])];

    expect(() => assertUnderstood(stack)).toThrow(resource);
  });

  it('throws on a variable in a condition', () => {
    expect(() => assertUnderstood(stackWith({ StringLike: { 's3:prefix': [`\${aws:username}`] } }))).toThrow(
      /username/,
    );
  });
});
