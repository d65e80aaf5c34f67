import type { Route } from '../http/route.ts';
import { creates, createTask, linkTask } from './creates.ts';

const processFiles = [...createTask, ...linkTask, 'passwords:put', 'passwords:delete'] as const;

export const processingRoutes = {
  convert: creates('convert', 'Convert files to another format', processFiles),
  compress: creates('compress', 'Compress files', processFiles),
  merge: creates('merge', 'Merge documents, PDFs and images into one file', processFiles),
  crop: creates('crop', 'Crop images, videos or PDF pages', processFiles),
  trim: creates('trim', 'Trim audio or video', processFiles),
} as const satisfies Record<string, Route>;
