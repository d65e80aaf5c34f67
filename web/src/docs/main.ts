import './style.css';

declare global {
  /** Of the prebuilt script that the build puts before this module. */
  const Scalar: { createApiReference(place: string, configuration: object): void };
}

/** Returns the OpenAPI document with the version of the service instead of that of the interface. */
async function describedService(): Promise<object> {
  const [document, { version }] = await Promise.all(
    ['/v1/openapi.json', '/health'].map(async (path) => (await fetch(path)).json()),
  );
  return { content: { ...document, info: { ...document.info, version } } };
}

Scalar.createApiReference('#reference', {
  // If the service does not respond, the reference itself shows why.
  ...(await describedService().catch(() => ({ url: '/v1/openapi.json' }))),
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
