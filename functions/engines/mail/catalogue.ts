import type { Capability, EngineCatalogue, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { detectMail } from './detect.ts';
import { attachments, oneFilePer, paper, remoteContent } from './options.ts';
import { components, requires } from './requires.ts';

function capabilities(from: string[], options: OptionDescriptor[]): Capability[] {
  return [
    { operation: 'convert', from, to: ['pdf'], options: [...options, attachments, remoteContent, ...paper] },
    { operation: 'convert', from, to: ['html'], options: [...options, remoteContent] },
    { operation: 'convert', from, to: ['txt', 'json'], options },
  ];
}

export const catalogue: EngineCatalogue = {
  engine: 'mail',
  // Each polled queue costs money, and mail is rare.
  worker: 'document',
  summary: 'Converts mail with its attachments',
  resources: {
    packaging: 'image',
    // Enough for Chromium with a large page and LibreOffice with a document.
    memoryMegabytes: 4096,
    diskMegabytes: 4096,
    // A mailbox of a thousand messages takes minutes.
    timeoutSeconds: 600,
    typicalSeconds: 2,
    processorTime: { baseSeconds: 300, secondsPerMegabyte: 120 },
    maxConcurrency: 20,
    // Pictures of remote hosts are loaded on request only.
    network: true,
  },
  formats: [
    { ext: 'eml', mediaType: 'message/rfc822' },
    { ext: 'mbox', mediaType: 'application/mbox' },
    { ext: 'msg', mediaType: 'application/vnd.ms-outlook', contents: ['cfb'] },
    { ext: 'html', mediaType: 'text/html' },
    { ext: 'txt', mediaType: 'text/plain' },
    { ext: 'json', mediaType: 'application/json' },
    { ext: 'pdf', mediaType: 'application/pdf' },
  ],
  capabilities: [...capabilities(['eml', 'msg'], []), ...capabilities(['mbox'], [oneFilePer])],
  components,
  requires,
  detect: detectMail,
};
