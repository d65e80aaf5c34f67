import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { LocalRole } from '../template/model.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Empty for permanent keys, which have none. */
  sessionToken: string;
  role: LocalRole;
  /** Milliseconds since 1970 until which signatures are accepted; absent for permanent keys. */
  expiresAt?: number;
}

/** Derives the credentials of a role from the master secret, so that presigned requests stay valid after a restart. */
export function makeCredentials(masterSecret: string, role: LocalRole): Credentials {
  const derive = (purpose: string) =>
    createHmac('sha256', masterSecret).update(`${purpose}\n${role.logicalId}`).digest();
  return {
    // Temporary keys, which have a session token, begin with ASIA.
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

/** Creates expiring credentials of a role, like those of an execution environment. */
export function makeSessionCredentials(masterSecret: string, role: LocalRole, expiresAt: number): Credentials {
  return sessionCredentials(masterSecret, role, { role: role.logicalId, id: randomUUID(), expiresAt });
}

/**
 * Returns the credentials of a session token that this service issued. The token holds everything, so that presigned
 * requests stay valid after a restart.
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
  // Derived from a role that no template has, since logical ids hold neither spaces nor dashes.
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
