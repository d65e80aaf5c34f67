import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { openapiDocument } from './openapi-document.ts';

export const handler = publicEndpoint(routes.openapi, async () => ({
  body: openapiDocument(),
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
}));
