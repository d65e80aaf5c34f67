import { publicEndpoint } from '../../shared/http/public-endpoint.ts';
import { catalogue } from '../engines/catalogues.ts';
import { routes } from './routes.ts';

export const handler = publicEndpoint(routes['query-all-formats'], async () => ({
  body: { formats: catalogue.formats().map((ext) => ({ ext })) },
}));
