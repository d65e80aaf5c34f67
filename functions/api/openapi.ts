import { endpoint } from '../../shared/http/endpoint.ts';
import { openapiDocument } from './openapi-document.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes.openapi, async () => ({
  body: openapiDocument(),
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
}));
