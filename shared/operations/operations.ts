export const importOperations = [
  'import/upload',
  'import/url',
  'import/base64',
  'import/webpage',
  'import/objstore_a',
  'import/objstore_b',
  'import/blobstore',
  'import/sftp',
] as const;

/** Operations on files of given formats, by an engine whose catalogue lists the pair. */
export const processingOperations = ['convert', 'compress', 'merge', 'crop', 'trim'] as const;
export type ProcessingOperation = (typeof processingOperations)[number];

export const exportOperations = [
  'export/url',
  'export/objstore_a',
  'export/objstore_b',
  'export/blobstore',
  'export/sftp',
] as const;

/** Every operation that a task may have. */
export const operationNames = [...importOperations, ...processingOperations, ...exportOperations] as const;
export type OperationName = (typeof operationNames)[number];

/** Returns whether a string names an operation. */
export function isOperation(name: string): name is OperationName {
  return operationNames.some((operation) => operation === name);
}

/** Returns whether an operation is performed by an engine on files of given formats. */
export function isProcessing(operation: string): operation is ProcessingOperation {
  return processingOperations.some((known) => known === operation);
}
