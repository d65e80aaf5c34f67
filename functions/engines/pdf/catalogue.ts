import type { EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';
import { archive } from './archive/group.ts';
import { comparison } from './compare/group.ts';
import { components } from './components.ts';
import { forms } from './forms/group.ts';
import type { Group } from './group.ts';
import { invoice } from './invoice/group.ts';
import { marks } from './marks/group.ts';
import { ocr } from './ocr/group.ts';
import { optimization } from './optimize/group.ts';
import { pages } from './pages/group.ts';
import { protect } from './protect/group.ts';
import { redaction } from './redact/group.ts';
import { requires } from './requires.ts';
import { signatures } from './sign/group.ts';

const groups: Group[] = [
  pages,
  marks,
  protect,
  forms,
  comparison,
  signatures,
  ocr,
  archive,
  invoice,
  redaction,
  optimization,
];

export const catalogue: EngineCatalogue = {
  engine: 'pdf',
  worker: 'document',
  summary: 'Works on PDFs: their pages, marks, protection, forms, signatures and text',
  resources: {
    packaging: 'image',
    // Enough for a page at 600 dpi, and for two cores.
    memoryMegabytes: 3008,
    diskMegabytes: 8192,
    timeoutSeconds: 600,
    typicalSeconds: 2,
    processorTime: { baseSeconds: 300, secondsPerMegabyte: 300 },
    maxConcurrency: 50,
    splits: true,
  },
  formats: [
    { ext: 'pdf', mediaType: 'application/pdf' },
    { ext: 'json', mediaType: 'application/json' },
    { ext: 'txt', mediaType: 'text/plain' },
    { ext: 'xml', mediaType: 'application/xml' },
  ],
  capabilities: groups.flatMap(({ capabilities }) => capabilities),
  components,
  requires,
};
