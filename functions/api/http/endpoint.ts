import { callerKnownMs, type Scope } from '../../../shared/accounts/caller.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { handlerOf } from './chain.ts';
import { admitRequest } from './rate-limit.ts';
import type { ApiRequest, ApiResponse, Route } from './route.ts';

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
      // A deleted key must stop working within 30 seconds. A cached caller plus a wait of 25 seconds would exceed that, so the
      // key is checked again after a wait.
      const confirm = async () => {
        if (Date.now() - since >= callerKnownMs) await authenticate(known);
      };
      return {
        account,
        ...(await admitRequest(account, route)),
        authorize: () => authorize(account, route, event.headers.origin),
        ...(route.bucket === 'wait' ? { confirm } : {}),
      };
    },
    handle,
  );
}
