import type { Route } from '../http/route.ts';
import { creates, createTask, linkTask } from './creates.ts';

const exportToStore = [...createTask, ...linkTask, 'secrets:put', 'secrets:delete'] as const;

export const exportRoutes = {
  'export-url': creates('export/url', 'Create temporary download links', [...createTask, ...linkTask]),
  'export-objstore-a': creates('export/objstore_a', 'Export to Amazon S3 or a compatible store', exportToStore),
  'export-objstore-b': creates('export/objstore_b', 'Export to Google Cloud Storage', exportToStore),
  'export-blobstore': creates('export/blobstore', 'Export to Azure Blob Storage', exportToStore),
  'export-sftp': creates('export/sftp', 'Export to an SFTP server', exportToStore),
} as const satisfies Record<string, Route>;
