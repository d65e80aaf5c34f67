import * as z from 'zod';
import { maxConfigurableFileBytes, maxParts } from '../../../shared/files/limits.ts';
import { count, Id, text } from '../http/fields.ts';
import { open, type Route } from '../http/route.ts';

/** The path of a result's `form.endpoint`, followed by the paths of Uppy's AWS S3 plugin. */
const root = '/v1/uploads/{taskId}/{token}/s3';

const partNumber = () => count(maxParts, `Expected a part number from 1 to ${maxParts}.`);

const endpointPath = { taskId: Id, token: z.string().min(1) };
const EndpointPath = () => z.object(endpointPath);
const UploadPath = () => z.object({ ...endpointPath, uploadId: z.string().min(1) });

const FileQuery = () =>
  z.object({
    filename: text(1_000),
    type: z.string().max(200).optional(),
  });

/** Tag names are compared without their quotes, as by S3. */
const CompletedPart = z.object({
  PartNumber: z
    .int(`Expected a part number from 1 to ${maxParts}.`)
    .min(1, `Expected a part number from 1 to ${maxParts}.`)
    .max(maxParts, `Expected a part number from 1 to ${maxParts}.`),
  ETag: text(100),
});

/**
 * Uploads in parts, for files of any size and uploads that resume. The token in the path is the credential, as the signature of
 * a form is, because Uppy sends no headers and the pages that upload have no API key.
 */
export const uploadRoutes = {
  'upload-form': {
    module: 'uploads/upload-form',
    ...open('GET', `${root}/params`, 'Uploads'),
    summary: 'Get the form for a file that is uploaded in one request',
    permissions: ['group:get'],
    params: EndpointPath,
    query: FileQuery,
    errors: [404, 409],
    response: 'UploadParameters',
  },
  'start-upload': {
    module: 'uploads/start-upload',
    ...open('POST', `${root}/multipart`, 'Uploads'),
    summary: 'Start or resume the upload of a file in parts',
    permissions: ['group:get', 'group:put', 'files:put', 'files:abort'],
    params: EndpointPath,
    body: () =>
      z.object({
        filename: text(1_000),
        type: z.string().max(200).optional().describe('Ignored: formats are detected from the content.'),
        metadata: z.record(z.string(), z.unknown()).optional().describe('Ignored.'),
        size: z
          .int('Expected the size in bytes.')
          .min(0, 'Expected the size in bytes.')
          .max(maxConfigurableFileBytes, `Expected at most ${maxConfigurableFileBytes} bytes.`)
          .optional()
          .describe(
            'Size of the file in bytes. The response then has the size of the parts, and an upload of the task with the same filename, size and modified is resumed.',
          ),
        modified: z.number().optional().describe('When the file was last modified, in milliseconds.'),
      }),
    errors: [404, 409],
    response: 'StartedUpload',
  },
  'sign-upload-part': {
    module: 'uploads/sign-upload-part',
    ...open('GET', `${root}/multipart/{uploadId}/{partNumber}`, 'Uploads'),
    summary: 'Get the URL to which a part is sent with PUT',
    permissions: ['group:get', 'group:put', 'files:listParts', 'parts:sign'],
    params: () => z.object({ ...endpointPath, uploadId: z.string().min(1), partNumber: partNumber() }),
    errors: [404, 409],
    response: 'SignedPart',
  },
  'list-upload-parts': {
    module: 'uploads/list-upload-parts',
    ...open('GET', `${root}/multipart/{uploadId}`, 'Uploads'),
    summary: 'List the parts that are stored',
    permissions: ['group:get', 'files:listParts'],
    params: UploadPath,
    errors: [404, 409],
    response: 'UploadPartList',
  },
  'complete-upload': {
    module: 'uploads/complete-upload',
    ...open('POST', `${root}/multipart/{uploadId}/complete`, 'Uploads'),
    summary: 'Complete an upload with the parts in the request',
    permissions: ['group:get', 'files:listParts', 'files:put', 'notifications:send'],
    params: UploadPath,
    body: () =>
      z.object({
        parts: z
          .array(CompletedPart, 'Expected the parts of the file.')
          .min(1, 'Expected the parts of the file.')
          .max(maxParts, `Expected at most ${maxParts} parts.`),
      }),
    errors: [404, 409],
    response: 'CompletedUpload',
  },
  'abort-upload': {
    module: 'uploads/abort-upload',
    ...open('DELETE', `${root}/multipart/{uploadId}`, 'Uploads'),
    summary: 'Abort an upload and delete its parts',
    permissions: ['group:get', 'group:put', 'files:abort'],
    params: UploadPath,
    errors: [404, 409],
    response: 'AbortedUpload',
  },
} as const satisfies Record<string, Route>;
