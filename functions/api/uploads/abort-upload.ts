import { abortParts } from '../../../shared/aws/incomplete-uploads.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { assertChanged, findWaitingTask, partsOf } from './find-upload.ts';

/** Aborts an upload. Its task waits for another until its form expires. */
export const handler = publicEndpoint(routes['abort-upload'], async ({ params }) => {
  const task = await findWaitingTask(params);
  await abortParts(partsOf(task, params.uploadId));
  assertChanged(await lifecycle.apply(task.id, { type: 'partsAborted', id: params.uploadId }), task);
  return { body: {} };
});
