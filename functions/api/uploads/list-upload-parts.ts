import { listStoredParts } from '../../../shared/aws/incomplete-uploads.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { findWaitingTask, noSuchUpload, partsOf } from './find-upload.ts';

export const handler = publicEndpoint(routes['list-upload-parts'], async ({ params }) => {
  const stored = await listStoredParts(partsOf(await findWaitingTask(params), params.uploadId));
  if (!stored) throw noSuchUpload(params.uploadId);
  return { body: stored };
});
