import { fileNameMetadata, safeName } from '../../../shared/files/names.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { findWaitingTask } from './find-upload.ts';

export const handler = publicEndpoint(routes['upload-form'], async ({ params, query }) => {
  const { form } = await findWaitingTask(params);
  const field = `x-amz-meta-${fileNameMetadata}`;
  // Uppy may send a file without its name, which S3 would otherwise fill in.
  return { body: { method: 'POST', url: form.url, fields: { ...form.parameters, [field]: safeName(query.filename) } } };
});
