import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { openapiDocument } from './openapi-document.ts';

/** The same for the life of a deployment, and slow to build. */
const document = openapiDocument();

export const handler = publicEndpoint(routes.openapi, async () => ({
  body: document,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
}));
