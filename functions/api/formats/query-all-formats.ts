import { catalogue } from '../../catalogue/catalogues.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { describeFormat } from './describe-format.ts';

export const handler = publicEndpoint(routes['query-all-formats'], async () => ({
  body: { formats: catalogue.formats().map(describeFormat) },
}));
