import type { Route } from '../http/route.ts';

export const serviceRoutes = {
  health: {
    module: 'service/health',
    method: 'GET',
    path: '/health',
    summary: 'Show the version, the state of the engines and the WebSocket URLs',
    tag: 'Service',
    access: 'public',
    permissions: ['sockets:locate', 'engine:batchGet'],
    success: 200,
    response: 'Health',
  },
  openapi: {
    module: 'service/openapi',
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Return the OpenAPI 3.1 document of this API',
    tag: 'Service',
    access: 'public',
    permissions: [],
    success: 200,
  },
} as const satisfies Record<string, Route>;
