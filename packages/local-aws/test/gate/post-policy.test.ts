import { describe, expect, it } from 'vitest';
import { parsePostPolicy } from '../../src/s3/post-policy.ts';

const encode = (policy: unknown) => Buffer.from(JSON.stringify(policy)).toString('base64');
const expiration = '2026-01-31T23:59:59.000Z';

describe('the policy of a form', () => {
  it('is read with its time and conditions', () => {
    const conditions = [{ bucket: 'files' }, ['starts-with', '$key', 'a/'], ['content-length-range', 0, 9]];

    const policy = parsePostPolicy(encode({ expiration, conditions }));

    expect(policy).toMatchObject({ expiration: Date.parse(expiration), lengthRange: { min: 0, max: 9 } });
    expect(policy.conditions.map(({ field }) => field)).toEqual(['bucket', 'key']);
  });

  it.each([
    ['a time without a zone', { expiration: '2026-01-31T23:59:59', conditions: [] }],
    ['a time that only JavaScript reads', { expiration: '2026-01-31 23:59:59+00:00', conditions: [] }],
    ['no time', { conditions: [] }],
    ['no conditions', { expiration }],
    ['a condition without a property', { expiration, conditions: [{}] }],
    ['a condition with two properties', { expiration, conditions: [{ bucket: 'files', key: 'a' }] }],
    ['an unknown operator', { expiration, conditions: [['ends-with', '$key', 'a']] }],
    ['half a range', { expiration, conditions: [['content-length-range', 0]] }],
  ])('is refused with %s', (_what, policy) => {
    expect(() => parsePostPolicy(encode(policy))).toThrowError(
      expect.objectContaining({ code: 'InvalidPolicyDocument' }),
    );
  });
});
