import { numberSettings } from '../shared/settings.ts';

/** Text settings. The numbers are in shared/settings.ts, because functions read them too. */
const textSettings = {
  allowHosts: {
    variable: 'LATHE_ALLOW_HOSTS',
    defaultValue: '',
    meaning: 'hosts that imports and webhooks may reach although they are private',
  },
  isolation: {
    variable: 'LATHE_ISOLATION',
    defaultValue: 'available',
    meaning:
      'whether engines run with what isolation there is (available), or not at all where it is incomplete (required)',
  },
  singleTenant: {
    variable: 'LATHE_SINGLE_TENANT',
    defaultValue: 'false',
    meaning: 'whether all accounts trust each other, so that they share environments and warm programs of engines',
    values: ['true', 'false'],
  },
  busEvents: {
    variable: 'LATHE_BUS_EVENTS',
    defaultValue: 'jobs',
    meaning: 'what the event bus receives: ends of jobs (jobs), those of tasks too (tasks), or every event (all)',
    values: ['jobs', 'tasks', 'all'],
  },
  oidcIssuer: {
    variable: 'LATHE_OIDC_ISSUER',
    defaultValue: '',
    meaning: "URL of the OpenID Connect issuer that people sign in at; the stack's own user pool if it is empty",
  },
  oidcClientId: {
    variable: 'LATHE_OIDC_CLIENT_ID',
    defaultValue: '',
    meaning: 'id that the issuer knows this service by, as a public client with PKCE',
  },
  oidcEmailDomains: {
    variable: 'LATHE_OIDC_EMAIL_DOMAINS',
    defaultValue: '',
    meaning: 'domains of the e-mail addresses that may sign in, comma-separated; any if it is empty',
  },
  missing: {
    variable: 'LATHE_MISSING',
    defaultValue: '',
    meaning: 'programs and packages that the engines lack, as JSON; the local stack sets it',
  },
} as const;

/** Every setting, with its environment variable. */
export const settings = { ...numberSettings, ...textSettings };

/** Settings that only the sign-in endpoints read. */
export const signInSettings = ['oidcIssuer', 'oidcClientId', 'oidcEmailDomains'] as const;

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
