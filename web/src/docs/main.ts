import { createApiReference } from '@scalar/api-reference';
import '@scalar/api-reference/style.css';
import './style.css';

createApiReference('#reference', {
  url: '/v1/openapi.json',
  authentication: { preferredSecurityScheme: 'key' },
  // The header of the page has it.
  documentDownloadType: 'none',
  // Nothing is loaded from elsewhere, sent elsewhere, or kept in the browser but the choice of colours.
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
});
