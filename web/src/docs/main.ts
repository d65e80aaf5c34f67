import './style.css';

declare global {
  /** Of the prebuilt script that the build puts before this module. */
  const Scalar: { createApiReference(place: string, configuration: object): void };
}

Scalar.createApiReference('#reference', {
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
