import { publishTask } from '../../../shared/permissions.ts';
import type { Route } from '../http/route.ts';
import { creates, createTask } from './creates.ts';

const importFromStore = [...createTask, 'secrets:put', 'work:send'] as const;

export const importRoutes = {
  'import-upload': {
    ...creates('import/upload', 'Import a file that the client posts to the returned form', [
      ...createTask,
      ...publishTask,
      'uploads:sign',
    ]),
    emptyBody: true,
  },
  'import-url': creates('import/url', 'Import a file from a URL', importFromStore),
  'import-base64': creates('import/base64', 'Import a small file sent in the request', [
    ...createTask,
    ...publishTask,
    'files:put',
  ]),
  'import-webpage': creates('import/webpage', 'Import a web page', [
    ...createTask,
    'work:send',
    // The task fails immediately if this instance has no browser.
    'group:put',
    ...publishTask,
  ]),
  'import-objstore-a': creates('import/objstore_a', 'Import from Amazon S3 or a compatible store', importFromStore),
  'import-objstore-b': creates('import/objstore_b', 'Import from Google Cloud Storage', importFromStore),
  'import-blobstore': creates('import/blobstore', 'Import from Azure Blob Storage', importFromStore),
  'import-sftp': creates('import/sftp', 'Import from an SFTP server', importFromStore),
} as const satisfies Record<string, Route>;
