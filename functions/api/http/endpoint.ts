import { callerKnownMs, type Scope } from '../../../shared/accounts/caller.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { handlerOf } from './chain.ts';
import { preferenceOf } from './preference.ts';
import { admitRequest } from './rate-limit.ts';
import type { ApiRequest, ApiResponse, Hold, Route } from './route.ts';
import { maxHoldMs } from './token-leases.ts';

/** Creates the Lambda handler of an endpoint with authentication. */
export function endpoint<const R extends Route & { access: 'key'; scope: Scope }>(
  route: R,
  handle: (request: ApiRequest<R>) => Promise<ApiResponse>,
) {
  return handlerOf(
    route,
    async (event) => {
      const known = route.keyOnly ? { ...event, cookies: [] } : event;
      const account = await authenticate(known);
      const since = Date.now();
      // A deleted key must stop working within 30 seconds. A cached caller plus a wait or a conversion of 25 seconds would
      // exceed that, so the key is checked again after a request of that kind.
      const confirm = async () => {
        if (Date.now() - since >= callerKnownMs) await authenticate(known);
      };
      const waitMs = maxWaitMs(route, event.headers.prefer);
      const { hold, headers } = await admitRequest(account, route, waitMs > 0);
      return {
        account,
        headers,
        hold: atMost(hold, waitMs),
        authorize: () => authorize(account, route, event.headers.origin),
        confirm,
      };
    },
    handle,
  );
}

/** Returns how long a request to a route waits at most. */
function maxWaitMs(route: Route, prefer: string | undefined): number {
  if (route.bucket === 'wait') return maxHoldMs;
  return route.mayWait ? Math.min(maxHoldMs, (preferenceOf(prefer).waitSeconds ?? 0) * 1000) : 0;
}

/** Shortens a hold. The rest is given back with what the request does not use. */
function atMost({ milliseconds, giveBack }: Hold, max: number): Hold {
  const kept = Math.min(milliseconds, max);
  return { milliseconds: kept, giveBack: (unused) => giveBack(unused + milliseconds - kept) };
}
