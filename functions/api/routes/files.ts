import * as z from 'zod';
import { Id } from '../http/fields.ts';
import type { Route } from '../http/route.ts';

export const fileRoutes = {
  file: {
    module: 'files/download-file',
    method: 'GET',
    alsoHead: true,
    path: '/v1/files/{taskId}/{token}/{name}',
    summary: 'Download a file by the link in a result',
    tag: 'Files',
    access: 'public',
    permissions: ['group:get', 'files:sign'],
    get params() {
      return z.object({ taskId: Id, token: z.string().min(1), name: z.string().min(1) });
    },
    success: 302,
    json: false,
  },
} as const satisfies Record<string, Route>;
