import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { LocalRole } from '../template/model.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Empty for keys that do not expire, which come without one. */
  sessionToken: string;
  role: LocalRole;
  /** Milliseconds since 1970 after which nothing signed with them is accepted; absent for never. */
  expiresAt?: number;
}

/** Derives the credentials of a role from the master secret, so that what was presigned before a restart stays valid. */
export function makeCredentials(masterSecret: string, role: LocalRole): Credentials {
  const derive = (purpose: string) =>
    createHmac('sha256', masterSecret).update(`${purpose}\n${role.logicalId}`).digest();
  return {
    // Temporary keys, those with a session token, begin with ASIA.
    accessKeyId: `ASIA${derive('accessKeyId').toString('hex').slice(0, 16).toUpperCase()}`,
    secretAccessKey: derive('secretAccessKey').toString('base64').slice(0, 40),
    sessionToken: `${derive('sessionToken').toString('base64url')}${derive('sessionToken2').toString('base64url')}`,
    role,
  };
}

interface Session {
  role: string;
  id: string;
  expiresAt: number;
}

/** Makes credentials of a role that expire, as those of an execution environment do. */
export function makeSessionCredentials(masterSecret: string, role: LocalRole, expiresAt: number): Credentials {
  return sessionCredentials(masterSecret, role, { role: role.logicalId, id: randomUUID(), expiresAt });
}

/**
 * Returns the credentials that a session token belongs to, if this service issued it. The token says everything, so that
 * what was presigned before a restart stays valid as long as it would have.
 */
export function readSession(masterSecret: string, roles: LocalRole[], token: string): Credentials | undefined {
  const [text = '', seal = ''] = token.split('.');
  const expected = sealOf(masterSecret, text);
  if (seal.length !== expected.length || !timingSafeEqual(Buffer.from(seal), Buffer.from(expected))) return undefined;
  const session: Session = JSON.parse(Buffer.from(text, 'base64url').toString());
  const role = roles.find(({ logicalId }) => logicalId === session.role);
  return role && sessionCredentials(masterSecret, role, session);
}

function sessionCredentials(masterSecret: string, role: LocalRole, session: Session): Credentials {
  // Of the identity of a role that no template has, since a logical id holds neither spaces nor dashes.
  const { accessKeyId, secretAccessKey } = makeCredentials(masterSecret, {
    ...role,
    logicalId: `${role.logicalId} ${session.id}`,
  });
  const text = Buffer.from(JSON.stringify(session)).toString('base64url');
  const sessionToken = `${text}.${sealOf(masterSecret, text)}`;
  return { accessKeyId, secretAccessKey, sessionToken, role, expiresAt: session.expiresAt };
}

function sealOf(masterSecret: string, text: string): string {
  return createHmac('sha256', masterSecret).update(`session\n${text}`).digest('base64url');
}
