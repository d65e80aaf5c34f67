import type { Role } from './caller.ts';

/** Who owns jobs, keys, webhooks and minutes: a person alone, or a team. */
export interface Account {
  id: string;
  kind: 'personal' | 'team';
  name: string;
  createdAt: string;
}

/** A person as an account knows them. */
export interface Person {
  id: string;
  email: string;
  name: string;
}

export interface Member extends Person {
  role: Role;
  addedAt: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  /** The id of the key or person that invited them. */
  invitedBy: string;
  invitedAt: string;
  expiresAt: string;
}

/** Members of an account and pending invitations to it, together: they stand in one item. */
export const maxMembers = 100;

/** Returns the one spelling of an e-mail address by which invitations are found. */
export function normalizedEmail(email: string): string {
  return email.trim().toLowerCase();
}
