/** What a client prefers by the Prefer header (RFC 7240). */
export interface Preference {
  /** Whether it wants a job at once instead of waiting. */
  isAsync: boolean;
  /** How many seconds it waits at most; undefined if it does not say. */
  waitSeconds: number | undefined;
}

/** Parses a Prefer header. Unknown and malformed preferences are ignored, as the RFC says, and the first of a name counts. */
export function preferenceOf(header = ''): Preference {
  const preferences = header
    .split(',')
    .map((preference) => preference.split(';', 1)[0]?.trim().toLowerCase() ?? '')
    .toReversed();
  const values = new Map(
    preferences.map((preference) => {
      const [name = '', value = ''] = preference.split('=').map((part) => part.trim());
      return [name, value.replace(/^"(.*)"$/, '$1')] as const;
    }),
  );
  const wait = values.get('wait');
  return {
    isAsync: values.has('respond-async'),
    waitSeconds: wait !== undefined && /^\d{1,6}$/.test(wait) ? Number(wait) : undefined,
  };
}

/** Returns the header by which a response says that the request has waited (RFC 7240). */
export function waitedHeader({ headers }: { headers: Record<string, string | undefined> }): Record<string, string> {
  return { 'Preference-Applied': `wait=${preferenceOf(headers.prefer).waitSeconds}` };
}
