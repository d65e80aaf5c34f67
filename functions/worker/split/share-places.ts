/** What a split run claims of the places that all of them share. */
export interface PlaceClaim {
  /** Its account. */
  user: string;
  /** The time in milliseconds until which the claim counts, even if its worker died. */
  until: number;
  /** How many parts it could run at once: those in progress, and those that wait. */
  wants: number;
  /** How many parts it runs, or may start without another claim. */
  holds: number;
}

/** Claims by name, see `runName`. */
export type PlaceClaims = Record<string, PlaceClaim>;

/** How long a claim counts after its last renewal. */
export const claimMs = 20_000;

/**
 * Returns how many parts a run may have in progress. Places that others hold are theirs until their parts end. The rest is shared
 * evenly among the accounts, and by each account among its runs.
 */
export function placesOf(claims: PlaceClaims, name: string, max: number, now: number): number {
  const [task = ''] = name.split('#');
  const live = Object.entries(claims)
    .filter(([other, { until }]) => other === name || (until > now && !other.startsWith(`${task}#`)))
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  const own = claims[name];
  if (!own) return 0;
  const users = [...new Set(live.map(([, { user }]) => user))];
  const wantedBy = (user: string) => live.filter(([, claim]) => claim.user === user);
  const ofUsers = evenly(
    users.map((user) => wantedBy(user).reduce((sum, [, { wants }]) => sum + wants, 0)),
    max,
  );
  const same = wantedBy(own.user);
  const ofRuns = evenly(
    same.map(([, { wants }]) => wants),
    ofUsers[users.indexOf(own.user)] ?? 0,
  );
  const held = live.reduce((sum, [other, { holds }]) => sum + (other === name ? 0 : holds), 0);
  return Math.max(0, Math.min(max - held, ofRuns[same.findIndex(([other]) => other === name)] ?? 0));
}

/** Returns the claims that no longer count. */
export function expiredClaims(claims: PlaceClaims, now: number): string[] {
  return Object.keys(claims).filter((name) => (claims[name]?.until ?? 0) <= now);
}

/** Divides places evenly, without giving more than is wanted. The first ones get what does not divide. */
function evenly(wanted: number[], places: number): number[] {
  const given = wanted.map(() => 0);
  for (let left = places; left > 0; ) {
    const open = wanted.flatMap((want, index) => (want > (given[index] ?? 0) ? [index] : []));
    if (open.length === 0) break;
    const each = Math.max(1, Math.floor(left / open.length));
    for (const index of open) {
      const more = Math.min(each, left, (wanted[index] ?? 0) - (given[index] ?? 0));
      given[index] = (given[index] ?? 0) + more;
      left -= more;
    }
  }
  return given;
}
