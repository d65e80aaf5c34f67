import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { referencePage } from './reference-page.ts';

/** The same for the life of a deployment, and slow to build. */
const page = referencePage();

export const handler = publicEndpoint(routes.docs, async () => ({
  text: page,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    // The page is self-contained: nothing may be loaded.
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
    'X-Content-Type-Options': 'nosniff',
  },
}));
