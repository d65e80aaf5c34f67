import { createApiReference } from '@scalar/api-reference';
import '@scalar/api-reference/style.css';
import './style.css';

createApiReference('#reference', {
  url: '/v1/openapi.json',
  authentication: { preferredSecurityScheme: 'key' },
  // Already in the header of the page.
  documentDownloadType: 'none',
  // Nothing is loaded from or sent to other origins, and only the color scheme is stored in the browser.
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
});
