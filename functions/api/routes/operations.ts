import {
  isProcessing,
  type OperationName,
  type ProcessingOperation,
  processingOf,
  processingOperations,
} from '../../../shared/operations/operations.ts';
import type { Refusal } from '../../../shared/operations/problems.ts';
import { type Permission, publishTask } from '../../../shared/permissions.ts';
import { endpointSchemas } from '../creation/schemas.ts';
import { keyed, type Route } from '../http/route.ts';

/** Permissions to write the records of tasks. */
export const createTask = ['group:batchPut', 'group:get', 'idempotency:get', 'idempotency:put', 'account:get'] as const;

/** Permissions to add tasks to the dependents of their inputs, and to fail those whose input has already failed. */
export const linkTask = ['group:batchGet', 'group:update', 'group:put', 'work:send', ...publishTask] as const;

/** Returns the row of the endpoint that creates tasks of an operation. */
const creates = <Name extends OperationName>(operation: Name, summary: string, permissions: readonly Permission[]) =>
  ({
    module: 'tasks/create-task',
    operation,
    ...keyed('POST', `/v1/process/${operation}`, 'process', tagOf(operation)),
    summary,
    bucket: 'create',
    mayWait: true,
    permissions,
    body: () => endpointSchemas[operation],
    success: 201,
    get refusals() {
      return refusalsOf(operation);
    },
    response: 'Task',
  }) as const satisfies Route;

function tagOf(operation: OperationName): string {
  if (isProcessing(operation)) return operation.includes('/') ? 'Documents' : 'Processing';
  return operation.startsWith('import/') ? 'Imports' : 'Exports';
}

function refusalsOf(operation: OperationName): Refusal[] {
  const schema = endpointSchemas[operation].shape;
  return [
    ...('input' in schema ? (['invalid_input'] as const) : []),
    ...('options' in schema ? (['unsupported_format', 'invalid_options'] as const) : []),
    ...('url' in schema || 'endpoint' in schema ? (['invalid_url'] as const) : []),
  ];
}

const importFromStore = [...createTask, 'secrets:put', 'work:send'] as const;
const processFiles = [...createTask, ...linkTask] as const;
const processSecretly = [...processFiles, 'passwords:put', 'passwords:delete'] as const;
/** Operations without an option that is a secret. */
const withoutSecrets: readonly ProcessingOperation[] = ['merge', 'trim'];
const exportToStore = [...createTask, ...linkTask, 'secrets:put', 'secrets:delete'] as const;

const processes = <Name extends ProcessingOperation>(operation: Name) =>
  creates(
    operation,
    processingOf(operation).summary,
    withoutSecrets.includes(operation) ? processFiles : processSecretly,
  );

/** Operations on documents share a function. */
const onDocuments = { module: 'documents/create-document-task', sharedFunction: 'process-documents' } as const;

/** Returns the rows of operations on documents. */
function documentRoutes() {
  const rows = processingOperations
    .filter((operation) => operation.includes('/'))
    .map((operation) => [nameOf(operation), { ...processes(operation), ...onDocuments }] as const);
  return Object.fromEntries(rows);
}

/** Returns the name of the row of an operation. */
export function nameOf(operation: ProcessingOperation): string {
  return operation.replaceAll('/', '-');
}

export const operationRoutes = {
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
  convert: processes('convert'),
  compress: processes('compress'),
  merge: processes('merge'),
  crop: processes('crop'),
  trim: processes('trim'),
  ...documentRoutes(),
  'export-url': creates('export/url', 'Create temporary download links', [...createTask, ...linkTask]),
  'export-objstore-a': creates('export/objstore_a', 'Export to Amazon S3 or a compatible store', exportToStore),
  'export-objstore-b': creates('export/objstore_b', 'Export to Google Cloud Storage', exportToStore),
  'export-blobstore': creates('export/blobstore', 'Export to Azure Blob Storage', exportToStore),
  'export-sftp': creates('export/sftp', 'Export to an SFTP server', exportToStore),
} as const satisfies Record<string, Route>;
