import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KeyLimits, type Scope, scopes } from '../../../shared/accounts/caller.ts';
import {
  allowsOrigin,
  excessOf,
  fileProblem,
  formatProblem,
  limitsOfTask,
  operationProblem,
  sizeProblem,
} from '../../../shared/accounts/limits.ts';

const same = (format: string) => format;

describe('a key without limits', () => {
  it('may do anything', () => {
    expect(operationProblem({}, 'convert')).toBeUndefined();
    expect(formatProblem({}, 'png')).toBeUndefined();
    expect(sizeProblem({}, 5e9)).toBeUndefined();
    expect(allowsOrigin({}, undefined)).toBe(true);
  });
});

describe('a limit', () => {
  it('of operations names itself and what was received', () => {
    expect(operationProblem({ operations: ['convert'] }, 'convert')).toBeUndefined();
    expect(operationProblem({ operations: ['convert'] }, 'merge')).toBe(
      'Expected one of convert, by the limit operations of the API key, but received "merge".',
    );
  });

  it('of formats refuses a file whose format is not known', () => {
    expect(formatProblem({ formats: ['png'] }, '')).toContain('a file of an unknown format');
  });

  it('of the size of files counts the byte that is too many', () => {
    expect(fileProblem({ maxFileBytes: 10 }, { format: 'png', size: 10 }, same)).toBeUndefined();
    expect(fileProblem({ maxFileBytes: 10 }, { format: 'png', size: 11 }, same)).toContain('at most 10 bytes');
  });

  it('of formats is compared by canonical names', () => {
    const file = { format: 'jpeg', size: 1 };
    expect(fileProblem({ formats: ['jpg'] }, file, () => 'jpg')).toBeUndefined();
  });

  it('of origins refuses other pages, and requests from no page', () => {
    const limits = { origins: ['https://example.com'] };
    expect(allowsOrigin(limits, 'https://Example.com')).toBe(true);
    for (const origin of [undefined, 'null', 'http://example.com', 'https://example.com.evil.test', 'https://a.test'])
      expect(allowsOrigin(limits, origin), origin).toBe(false);
  });
});

it('a task keeps the limits on its files, and no others: its meter has those on its time', () => {
  const all: Required<KeyLimits> = {
    operations: ['convert'],
    formats: ['png'],
    maxFileBytes: 1,
    requestsPerMinute: 1,
    minutesPerMonth: 1,
    minutesPerTask: 1,
    origins: ['https://example.com'],
  };
  expect(limitsOfTask(all)).toEqual({ formats: ['png'], maxFileBytes: 1 });
});

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
const limitsArbitrary: fc.Arbitrary<KeyLimits> = fc.record(
  {
    operations: names,
    formats: names,
    origins: names,
    maxFileBytes: fc.integer({ min: 1, max: 4 }),
    requestsPerMinute: fc.integer({ min: 1, max: 4 }),
    minutesPerMonth: fc.integer({ min: 0, max: 4 }),
    minutesPerTask: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: [] },
);
const rights = fc.record(
  {
    scopes: fc.uniqueArray(fc.constantFrom<Scope>(...scopes), { minLength: 1 }),
    limits: limitsArbitrary,
    expiresAt: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ['scopes', 'limits'] },
);

type Rights = Parameters<typeof excessOf>[1];

/** Returns the first rights as far as the others allow them, too. */
function narrowed(first: Rights, second: Rights): Rights {
  const both = <T>(own: readonly T[], given: readonly T[]) => {
    const common = own.filter((name) => given.includes(name));
    return common.length > 0 ? common : [...own];
  };
  const limits = { ...second.limits, ...first.limits };
  for (const name of ['operations', 'formats', 'origins'] as const) {
    const [own, given] = [first.limits[name], second.limits[name]];
    if (own && given) limits[name] = both(own, given);
  }
  for (const name of ['maxFileBytes', 'requestsPerMinute', 'minutesPerMonth', 'minutesPerTask'] as const) {
    const [own, given] = [first.limits[name], second.limits[name]];
    if (own !== undefined && given !== undefined) limits[name] = Math.min(own, given);
  }
  const expiries = [first.expiresAt, second.expiresAt].filter((time) => time !== undefined);
  const expiry = expiries.length > 0 ? { expiresAt: Math.min(...expiries) } : {};
  return { scopes: both(first.scopes, second.scopes), limits, ...expiry };
}

describe('excessOf', () => {
  it('finds nothing in a key with the rights of whoever makes it', () => {
    fc.assert(
      fc.property(rights, (own) => {
        expect(excessOf(own, own)).toEqual({});
      }),
    );
  });

  it('finds nothing in keys that get fewer rights from one to the next, in the last as in the first', () => {
    fc.assert(
      fc.property(rights, rights, rights, (first, second, third) => {
        const narrower = narrowed(first, second);
        const narrowest = narrowed(narrower, third);
        expect(excessOf(first, narrower)).toEqual({});
        expect(excessOf(narrower, narrowest)).toEqual({});
        expect(excessOf(first, narrowest)).toEqual({});
      }),
    );
  });

  it.each<[string, Parameters<typeof excessOf>[0], Parameters<typeof excessOf>[1]]>([
    ['scopes', { scopes: ['account'], limits: {} }, { scopes: ['read'], limits: {} }],
    ['expires_at', { scopes: ['read'], limits: {}, expiresAt: 5 }, { scopes: ['read'], limits: {} }],
    ['expires_at', { scopes: ['read'], limits: {}, expiresAt: 5 }, { scopes: ['read'], limits: {}, expiresAt: 6 }],
    ['limits.formats', { scopes: ['read'], limits: { formats: ['png'] } }, { scopes: ['read'], limits: {} }],
    [
      'limits.operations',
      { scopes: ['read'], limits: { operations: ['convert'] } },
      { scopes: ['read'], limits: { operations: ['convert', 'merge'] } },
    ],
    ['limits.minutesPerTask', { scopes: ['read'], limits: { minutesPerTask: 1 } }, { scopes: ['read'], limits: {} }],
    [
      'limits.maxFileBytes',
      { scopes: ['read'], limits: { maxFileBytes: 1 } },
      { scopes: ['read'], limits: { maxFileBytes: 2 } },
    ],
  ])('names %s where it exceeds', (field, own, key) => {
    expect(Object.keys(excessOf(own, key))).toEqual([field]);
  });
});
