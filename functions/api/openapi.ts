import { publicEndpoint } from '../../shared/http/public-endpoint.ts';
import { openapiDocument } from './openapi-document.ts';
import { routes } from './routes.ts';

export const handler = publicEndpoint(routes.openapi, async () => ({
  body: openapiDocument(),
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
}));
