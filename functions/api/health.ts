import { endpoint } from '../../shared/http/endpoint.ts';
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
    },
  };
});
