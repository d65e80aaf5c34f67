import { expect, test } from 'vitest';
import { makeSessionCredentials } from '../../src/iam/credentials.ts';
import { Refusal } from '../../src/iam/refusal.ts';
import { callSts } from '../../src/iam/sts.ts';
import { role } from './fixture.ts';

const signer = role('Signer', []);
const stack = { assumableRoles: [signer] };
const valid = { Action: 'AssumeRole', RoleArn: signer.arn, RoleSessionName: 'signing', DurationSeconds: '3600' };

function call(parameters: Record<string, string>, authorise: (need: object) => void = () => undefined): string {
  const body = Buffer.from(String(new URLSearchParams(parameters)));
  return callSts(stack, body, (assumed, expiresAt) => makeSessionCredentials('secret', assumed, expiresAt), authorise);
}

test('an assumed role has credentials that expire at the time in the response', () => {
  const needs: object[] = [];
  const response = call(valid, (need) => needs.push(need));
  expect(needs).toEqual([{ action: 'sts:AssumeRole', resource: signer.arn }]);
  const expiration = Date.parse(/<Expiration>(.*)<\/Expiration>/.exec(response)?.[1] ?? '');
  expect(expiration - Date.now()).toBeGreaterThan(3_590_000);
  expect(expiration - Date.now()).toBeLessThanOrEqual(3_600_000);
});

test.for<[what: string, parameters: Record<string, string>, message: RegExp]>([
  ['for longer than an hour, since the caller is a role itself', { DurationSeconds: '3601' }, /role chaining/],
  ['for less than a quarter of an hour', { DurationSeconds: '899' }, /at least 900/],
  ['without a name', { RoleSessionName: '' }, /RoleSessionName/],
  ['that does not trust the account', { RoleArn: 'arn:aws:iam::123456789012:role/Other' }, /Not authorized/],
  ['by another operation', { Action: 'GetSessionToken' }, /not supported/],
])('no role is assumed %s', ([, parameters, message]) => {
  expect(() => call({ ...valid, ...parameters })).toThrow(message);
  expect(() => call({ ...valid, ...parameters })).toThrow(Refusal);
});

test('no role is assumed that the policies of the caller do not name', () => {
  const refuse = () => {
    throw new Refusal('access-denied', 'not authorized');
  };
  expect(() => call(valid, refuse)).toThrow('not authorized');
});
