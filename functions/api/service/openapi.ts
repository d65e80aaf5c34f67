import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { openapiDocument } from './openapi-document.ts';

/** Built once, because that is slow and the document does not change within a deployment. */
const document = openapiDocument();

export const handler = publicEndpoint(routes.openapi, async () => ({
  body: document,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
}));
