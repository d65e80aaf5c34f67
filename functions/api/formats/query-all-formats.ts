import { catalogue } from '../../catalogue/catalogues.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { presentFormats } from './present-formats.ts';

export const handler = publicEndpoint(routes['query-all-formats'], async () => ({
  body: presentFormats(catalogue.formats()),
}));
