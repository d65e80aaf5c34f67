import { numberSettings } from '../shared/settings.ts';

/** Text settings. The numbers are in shared/settings.ts, because functions read them too. */
const textSettings = {
  allowHosts: {
    variable: 'LATHE_ALLOW_HOSTS',
    defaultValue: '',
    meaning: 'private hosts that imports and webhooks may access',
  },
  isolation: {
    variable: 'LATHE_ISOLATION',
    defaultValue: 'available',
    meaning: 'whether engines run with the available isolation (available), or only with complete isolation (required)',
  },
  singleTenant: {
    variable: 'LATHE_SINGLE_TENANT',
    defaultValue: 'false',
    meaning: 'whether all accounts trust each other, so that they share environments and warm engine programs',
    values: ['true', 'false'],
  },
  busEvents: {
    variable: 'LATHE_BUS_EVENTS',
    defaultValue: 'jobs',
    meaning:
      'events that the event bus receives: ends of jobs (jobs), ends of jobs and tasks (tasks), or every event (all)',
    values: ['jobs', 'tasks', 'all'],
  },
  oidcIssuer: {
    variable: 'LATHE_OIDC_ISSUER',
    defaultValue: '',
    meaning: "URL of the OpenID Connect issuer for sign-in; defaults to the stack's own user pool",
  },
  oidcClientId: {
    variable: 'LATHE_OIDC_CLIENT_ID',
    defaultValue: '',
    meaning: 'client id of this service at the issuer, as a public client with PKCE',
  },
  oidcEmailDomains: {
    variable: 'LATHE_OIDC_EMAIL_DOMAINS',
    defaultValue: '',
    meaning: 'domains of the e-mail addresses that may sign in, comma-separated; defaults to any',
  },
  missing: {
    variable: 'LATHE_MISSING',
    defaultValue: '',
    meaning: 'programs and packages that the engines lack, as JSON; set by the local stack',
  },
} as const;

/** Every setting, with its environment variable. */
export const settings = { ...numberSettings, ...textSettings };

/** Settings that only the sign-in endpoints read. */
export const signInSettings = ['oidcIssuer', 'oidcClientId', 'oidcEmailDomains'] as const;

/** Settings that only the workers of engines read that can do a run in parts. */
export const splitSettings = ['splitAtOnce', 'splitSeconds'] as const;

/** Returns the id of the template parameter of a setting: `fileSeconds` is `FileSeconds`. */
export function parameterOf(setting: string): string {
  return setting.charAt(0).toUpperCase() + setting.slice(1);
}

/**
 * Returns the variables of a function without the settings it does not read: the URLs of all queues leave little of
 * Lambda's 4 KB.
 */
export function settingsWithout(
  environment: Record<string, string>,
  names: readonly (keyof typeof settings)[],
): Record<string, string> {
  const unread = names.map((name): string => settings[name].variable);
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => !unread.includes(variable)));
}
