/** How long a warm function relies on what it has read of a key, session or role: one that is removed stops working within it. */
export const callerKnownMs = 10_000;

/** What a key or a role in an account allows: to read, to create and cancel work, and to manage the account itself. */
export const scopes = ['read', 'process', 'account'] as const;
export type Scope = (typeof scopes)[number];

/** What a member may do in an account. */
export const roles = ['owner', 'developer', 'viewer'] as const;
export type Role = (typeof roles)[number];

export const scopesOfRole = {
  owner: scopes,
  developer: ['read', 'process'],
  viewer: ['read'],
} as const satisfies Record<Role, readonly Scope[]>;

/** Limits that a key carries in addition to those of its account. What is absent is not limited. */
export interface KeyLimits {
  /** Operations that the key may create tasks of. */
  operations?: string[];
  /** Formats, as input or output. */
  formats?: string[];
  maxFileBytes?: number;
  requestsPerMinute?: number;
  minutesPerMonth?: number;
  minutesPerTask?: number;
  /** Origins of the pages that may send the key, such as `https://example.com`. */
  origins?: string[];
}

/** Who makes a request and for which account: a program with an API key, or a person who is signed in. */
export interface Caller {
  /** The account that owns what is read and created: its ObjectID, which tasks and jobs show as `user`. */
  user: string;
  scopes: readonly Scope[];
  limits: KeyLimits;
  /** The id of the API key; absent where a person is signed in. */
  key?: string;
  /** The name and hash of that key, and when it expires, in milliseconds, if it does. */
  keyName?: string;
  keyHash?: string;
  expiresAt?: number;
  /** The id of the person; absent where an API key was sent. */
  person?: string;
  /** What pages of that person send back as `Lathe-CSRF`. */
  csrf?: string;
}
