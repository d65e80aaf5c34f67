import { randomUUID } from 'node:crypto';
import type { LocalRole, LocalStack } from '../template/model.ts';
import type { Credentials } from './credentials.ts';
import type { RequiredAction } from './refusal.ts';
import { Refusal } from './refusal.ts';

const minSeconds = 900;
/** Maximum duration with role chaining, whatever the role's own maximum. */
const maxSeconds = 3600;

/** Creates expiring credentials of a role. */
export type AssumeRole = (role: LocalRole, expiresAt: number) => Credentials;

/** Handles an STS call by a role: AssumeRole of a role that trusts the account. Returns the response. */
export function callSts(
  { assumableRoles }: Pick<LocalStack, 'assumableRoles'>,
  body: Buffer,
  assume: AssumeRole,
  authorise: (need: RequiredAction) => void,
): string {
  const form = new URLSearchParams(body.toString());
  const action = form.get('Action') ?? '';
  if (action !== 'AssumeRole')
    throw new Refusal('unsupported', `The operation ${action} of STS is not supported here.`);
  const arn = form.get('RoleArn') ?? '';
  authorise({ action: 'sts:AssumeRole', resource: arn });
  const role = assumableRoles.find((candidate) => candidate.arn === arn);
  if (!role) throw new Refusal('access-denied', `Not authorized to perform: sts:AssumeRole on resource: ${arn}`);
  if (!/^[\w+=,.@-]{2,64}$/.test(form.get('RoleSessionName') ?? ''))
    throw new Refusal('invalid-request', 'RoleSessionName must have 2 to 64 letters, digits or any of +=,.@-_');
  const seconds = Number(form.get('DurationSeconds') ?? maxSeconds);
  if (!(seconds >= minSeconds)) throw new Refusal('invalid-request', `DurationSeconds must be at least ${minSeconds}.`);
  if (seconds > maxSeconds)
    throw new Refusal(
      'invalid-request',
      'The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.',
    );
  const expiresAt = Date.now() + seconds * 1000;
  const { accessKeyId, secretAccessKey, sessionToken } = assume(role, expiresAt);
  return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${new Date(expiresAt).toISOString()}</Expiration></Credentials></AssumeRoleResult><ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></AssumeRoleResponse>`;
}
