import { createHmac } from 'node:crypto';
import type { LocalRole } from '../template/model.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Empty for keys that do not expire, which come without one. */
  sessionToken: string;
  role: LocalRole;
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
