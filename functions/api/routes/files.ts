import * as z from 'zod';
import { Id } from '../http/fields.ts';
import { open, type Route } from '../http/route.ts';

export const fileRoutes = {
  file: {
    module: 'files/download-file',
    ...open('GET', '/v1/files/{taskId}/{token}/{name}', 'Files'),
    alsoHead: true,
    summary: 'Download a file by the link in a result',
    permissions: ['group:get', 'files:sign'],
    params: () => z.object({ taskId: Id, token: z.string().min(1), name: z.string().min(1) }),
    success: 302,
    json: false,
  },
} as const satisfies Record<string, Route>;
