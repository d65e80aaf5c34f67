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

/** Fields of operations that name tasks whose files are used in addition to the input, each with what its files are. */
export const fileRoles = {
  fonts: 'Fonts to draw the text with, in addition to those that are installed.',
  picture: 'The picture to draw.',
  data: 'Values of the fields, as JSON or CSV. Several records give several files.',
  original: 'The document to compare with.',
  attachments: 'Files to embed.',
  invoice: 'The invoice as XML.',
  trust: 'Certificates of the authorities that you trust, in PEM.',
} as const;
export type FileRole = keyof typeof fileRoles;
export const roleNames = Object.keys(fileRoles) as FileRole[];

interface Processing {
  /** Shown in the API reference. */
  summary: string;
  /** Default format of the output, if it is not that of the input. */
  output?: string;
  /** Whether the fields for other files are required. */
  roles?: Partial<Record<FileRole, 'optional' | 'required'>>;
}

/** Operations on files of given formats, by an engine whose catalogue lists the pair. */
const processing = {
  convert: { summary: 'Convert files to another format', roles: { fonts: 'optional' } },
  compress: { summary: 'Compress files' },
  merge: { summary: 'Merge documents, PDFs and images into one file' },
  crop: { summary: 'Crop images, videos or PDF pages' },
  trim: { summary: 'Trim audio or video' },
  'pdf/split': { summary: 'Split a PDF into several' },
  'pdf/extract': { summary: 'Extract pages of a PDF' },
  'pdf/rotate': { summary: 'Rotate pages of a PDF' },
  'pdf/reorder': { summary: 'Put the pages of a PDF into another order' },
  'pdf/watermark': { summary: 'Put a text or picture across the pages of a PDF', roles: { picture: 'optional' } },
  'pdf/stamp': {
    summary: 'Stamp page numbers, Bates numbers, dates or pictures on a PDF',
    roles: { picture: 'optional' },
  },
  'pdf/encrypt': { summary: 'Protect a PDF by passwords and permissions' },
  'pdf/decrypt': { summary: 'Remove the password of a PDF' },
  'pdf/optimize': { summary: 'Make a PDF smaller, and fast to open from the web' },
  'pdf/ocr': { summary: 'Make the text of scanned pages searchable', output: 'pdf' },
  'pdf/a': { summary: 'Make a PDF/A, and validate it', output: 'pdf', roles: { attachments: 'optional' } },
  'pdf/ua': { summary: 'Make a tagged PDF, and validate it', output: 'pdf' },
  'pdf/forms': { summary: 'List the form fields of a PDF', output: 'json' },
  'pdf/fill': { summary: 'Fill the form of a PDF', roles: { data: 'optional' } },
  'pdf/sign': { summary: 'Sign a PDF', roles: { picture: 'optional' } },
  'pdf/verify': { summary: 'Verify the signatures of a PDF', output: 'json', roles: { trust: 'optional' } },
  'pdf/redact': { summary: 'Remove texts or areas from a PDF' },
  'pdf/compare': { summary: 'Compare two PDFs', roles: { original: 'required' } },
  'invoice/embed': { summary: 'Make a Factur-X or ZUGFeRD invoice of a PDF', roles: { invoice: 'required' } },
  'invoice/extract': { summary: 'Extract the XML of an electronic invoice', output: 'xml' },
} as const satisfies Record<string, Processing>;
export type ProcessingOperation = keyof typeof processing;
export const processingOperations = Object.keys(processing) as ProcessingOperation[];

/** Returns the description of an operation by an engine. */
export function processingOf(operation: ProcessingOperation): Processing {
  return processing[operation];
}

/** Returns the roles that an operation has for files in addition to its input. */
export function rolesOf(operation: string): FileRole[] {
  const { roles = {} } = isProcessing(operation) ? processingOf(operation) : {};
  return roleNames.filter((role) => role in roles);
}

/** Returns the output format of a task: the requested one, or the default of its operation. */
export function outputFormatOf<Format extends string | undefined>(
  operation: ProcessingOperation,
  requested: unknown,
  inputFormat: Format,
): string | Format {
  return typeof requested === 'string' ? requested : (processingOf(operation).output ?? inputFormat);
}

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
