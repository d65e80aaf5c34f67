import { open, type Route } from '../http/route.ts';

export const serviceRoutes = {
  health: {
    module: 'service/health',
    ...open('GET', '/health', 'Service'),
    summary: 'Show the version, the state of the engines and the WebSocket URLs',
    permissions: ['sockets:locate', 'engine:batchGet'],
    response: 'Health',
  },
  openapi: {
    module: 'service/openapi',
    ...open('GET', '/v1/openapi.json', 'Service'),
    summary: 'Return the OpenAPI 3.1 document of this API',
    permissions: [],
  },
} as const satisfies Record<string, Route>;
