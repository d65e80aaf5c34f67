import { callerKnownMs, type Scope } from '../../../shared/accounts/caller.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { handlerOf } from './chain.ts';
import { admitRequest } from './rate-limit.ts';
import type { ApiRequest, ApiResponse, Route } from './route.ts';

/** Makes the Lambda handler of an endpoint that takes an API key. */
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
      // A wait may outlive its key, which may not work for longer than 30 seconds after it was deleted: without this it could
      // for those that it is known, and then for the 25 of the wait. What changes something has done so by then.
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
