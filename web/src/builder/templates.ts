import type { JobBody } from './draft.ts';

/** Jobs to start from. */
export const templates: { title: string; job: JobBody }[] = [
  {
    title: 'Convert a file',
    job: {
      tasks: {
        file: { operation: 'import/upload' },
        pdf: { operation: 'convert', input: 'file', output_format: 'pdf' },
        link: { operation: 'export/url', input: 'pdf' },
      },
    },
  },
  {
    title: 'Two formats of one picture',
    job: {
      tasks: {
        picture: { operation: 'import/upload' },
        small: { operation: 'convert', input: 'picture', output_format: 'webp', options: { image_custom_width: 320 } },
        large: { operation: 'convert', input: 'picture', output_format: 'png' },
        links: { operation: 'export/url', input: ['small', 'large'] },
      },
    },
  },
  {
    title: 'Merge PDFs',
    job: {
      tasks: {
        first: { operation: 'import/upload' },
        second: { operation: 'import/upload' },
        both: { operation: 'merge', input: ['first', 'second'], output_format: 'pdf' },
        link: { operation: 'export/url', input: 'both' },
      },
    },
  },
  {
    title: 'Web page to PDF and PNG',
    job: {
      tasks: {
        page: { operation: 'import/webpage', url: 'https://example.com/' },
        paper: { operation: 'convert', input: 'page', output_format: 'pdf' },
        picture: { operation: 'convert', input: 'page', output_format: 'png' },
        links: { operation: 'export/url', input: ['paper', 'picture'] },
      },
    },
  },
];
