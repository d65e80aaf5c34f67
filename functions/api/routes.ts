import { accountRoutes } from './routes/account.ts';
import { auditRoutes } from './routes/audit.ts';
import { fileRoutes } from './routes/files.ts';
import { formatRoutes } from './routes/formats.ts';
import { imageKeyRoutes } from './routes/image-keys.ts';
import { instantRoutes } from './routes/instant.ts';
import { jobRoutes } from './routes/jobs.ts';
import { keyRoutes } from './routes/keys.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { memberRoutes } from './routes/members.ts';
import { operationRoutes } from './routes/operations.ts';
import { pictureRoutes } from './routes/pictures.ts';
import { serviceRoutes } from './routes/service.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { taskRoutes } from './routes/tasks.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { usageRoutes } from './routes/usage.ts';
import { webhookRoutes } from './routes/webhooks.ts';

/**
 * Every endpoint, by the name of its function. The functions, routes and roles of the stack, request validation and the
 * OpenAPI document are derived from these rows.
 */
export const routes = {
  ...formatRoutes,
  ...taskRoutes,
  ...jobRoutes,
  ...operationRoutes,
  ...uploadRoutes,
  ...instantRoutes,
  ...pictureRoutes,
  ...tokenRoutes,
  ...usageRoutes,
  ...webhookRoutes,
  ...accountRoutes,
  ...keyRoutes,
  ...imageKeyRoutes,
  ...memberRoutes,
  ...auditRoutes,
  ...fileRoutes,
  ...signInRoutes,
  ...serviceRoutes,
  ...mcpRoutes,
};

export type EndpointName = keyof typeof routes;
