import type { Caller } from './caller.ts';

/** What the audit log records. */
export const auditActions = [
  'key.created',
  'key.deleted',
  'image_key.created',
  'image_key.deleted',
  'webhook.created',
  'webhook.deleted',
  'team.created',
  'member.invited',
  'member.joined',
  'member.removed',
  'role.changed',
  'invitation.withdrawn',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Who makes a change: a program with a key, a person who is signed in, or the operator of the deployment. */
export interface Actor {
  type: 'key' | 'person' | 'operator';
  /** The id of the key or person. */
  id?: string;
}

/** Where a request comes from. */
export interface Source {
  address: string;
  /** The start of what the client says it is. */
  agent: string;
}

export interface AuditEntry {
  /** Later entries have greater ids. */
  id: string;
  at: string;
  action: AuditAction;
  /** The id of the key, webhook, person, invitation or account that is changed. */
  subject: string;
  /** What it is called: the name of a key, the URL of a webhook, the e-mail address of a person. */
  name?: string;
  /** The scopes that a key gets, or the role that a person gets. */
  scopes?: readonly string[];
  role?: string;
  actor: Actor;
  address?: string;
  agent?: string;
}

export const maxAgentLength = 200;

/** Returns who a caller is in the audit log. */
export function actorOf({ key, person }: Pick<Caller, 'key' | 'person'>): Actor {
  if (person !== undefined) return { type: 'person', id: person };
  if (key !== undefined) return { type: 'key', id: key };
  throw new Error('A caller has a key or is a person.');
}
