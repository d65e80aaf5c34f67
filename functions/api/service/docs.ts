import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { referencePage } from './reference-page.ts';

export const handler = publicEndpoint(routes.docs, async () => ({
  text: referencePage(),
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    // The page is self-contained: nothing may be loaded.
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
    'X-Content-Type-Options': 'nosniff',
  },
}));
