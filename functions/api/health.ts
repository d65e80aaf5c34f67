import { endpoint } from '../../shared/http/endpoint.ts';
import { required } from '../../shared/settings.ts';
import { engineCatalogues, enginesOff } from '../engines/catalogues.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes.health, async () => {
  const off = enginesOff();
  return {
    body: {
      status: 'ok',
      version: process.env.LATHE_VERSION,
      engines: engineCatalogues.map(({ engine }) =>
        off[engine] === undefined
          ? { name: engine, usable: true }
          : { name: engine, usable: false, reason: off[engine] },
      ),
      websocket: addressesOf(new URL(required('LATHE_WEBSOCKET_URL'))),
    },
  };
});

/** Returns where clients connect: a plain one by the URL, one of Socket.IO by host and path apart. */
function addressesOf({ href, origin, pathname }: URL) {
  return { url: href, socketIo: { url: origin, path: pathname } };
}
