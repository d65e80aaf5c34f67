import { readEngineStates } from '../../../shared/aws/stores/engine-state.ts';
import { describeMissing, reasonOff } from '../../../shared/catalogue/missing.ts';
import { required } from '../../../shared/settings.ts';
import { catalogue, engineCatalogues, missingComponents } from '../../catalogue/catalogues.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';

export const handler = publicEndpoint(routes.health, async () => {
  const all = missingComponents();
  const states = await readEngineStates(engineCatalogues.map(({ engine }) => engine));
  return {
    body: {
      status: 'ok',
      version: process.env.LATHE_VERSION,
      engines: engineCatalogues.map((engine) => {
        const missing = describeMissing(engine, all);
        const usable = catalogue.isUsable(engine.engine);
        const isolation = states.get(engine.engine);
        return {
          name: engine.engine,
          usable,
          ...(usable ? {} : { reason: reasonOff(engine, all) }),
          ...(missing.length > 0 ? { missing } : {}),
          ...(isolation ? { isolation } : {}),
        };
      }),
      websocket: addressesOf(new URL(required('LATHE_WEBSOCKET_URL'))),
    },
  };
});

/** Returns the addresses for WebSocket clients. Socket.IO takes origin and path separately. */
function addressesOf({ href, origin, pathname }: URL) {
  return { url: href, socketIo: { url: origin, path: pathname } };
}
