import * as z from 'zod';
import { chargeTask } from '../../../shared/permissions.ts';
import { Id } from '../http/fields.ts';
import { open, type Route } from '../http/route.ts';

export const pictureRoutes = {
  picture: {
    module: 'pictures/show-picture',
    ...open('GET', '/i/{keyId}/{proxy+}', 'Images by URL'),
    summary: 'Get a derivative of an image, by a signed URL in the scheme of imgproxy',
    engine: 'image',
    permissions: [
      'imageKey:get',
      'rate:update',
      'account:get',
      'derivative:get',
      'derivative:update',
      'derivative:delete',
      'engines:invoke',
      ...chargeTask,
      // Large sources and results, and results that several requests wait for.
      'files:get',
      'files:put',
      'files:delete',
      'files:sign',
    ],
    params: () =>
      z.object({
        keyId: Id,
        proxy: z
          .string()
          .describe('Signature, processing options and source, such as `<signature>/w:300/plain/<url>`.'),
      }),
    json: false,
    errors: [403, 422, 503, 504],
  },
} as const satisfies Record<string, Route>;
