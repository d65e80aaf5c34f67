import { endpoint } from '../../shared/http/endpoint.ts';
import { catalogue } from '../engines/catalogues.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['query-all-formats'], async () => ({
  body: { formats: catalogue.formats().map((ext) => ({ ext })) },
}));
