import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import type { Options } from '../types.ts';
import { Flag, Format, Link, OptionalFormat, OptionValues } from './common-tools.ts';

/** An operation as an agent requests it. */
export interface OperationRequest {
  operation: string;
  /** URLs, data: URIs or, for the local server, paths. */
  inputs: string[];
  /** Files in addition to the inputs, by their roles. */
  files?: Record<string, string> | undefined;
  to?: string | undefined;
  from?: string | undefined;
  options?: Options | undefined;
  output?: string | undefined;
  overwrite?: boolean | undefined;
  link?: boolean | undefined;
  webpage?: boolean | undefined;
  /** Defaults to true. */
  wait?: boolean | undefined;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const Input = z.string().describe('URL, data: URI or path');
const Common = {
  options: OptionValues,
  output: z.string().optional().describe('Path or name'),
  overwrite: Flag,
  link: Link,
  wait: Flag,
};
const OneFile = { input: Input, to: OptionalFormat, from: OptionalFormat };
const Pixels = z.number().optional();
const Time = z.coerce.string().optional();
const annotations = { destructiveHint: false };

const documentOperations =
  'pdf/split, extract, rotate, reorder, watermark, stamp, encrypt, decrypt, optimize, ocr, a, ua, forms, fill, sign, verify, redact, compare; invoice/embed, extract';

/**
 * Registers the tools that perform operations. The local server and the service have the same, with the same arguments;
 * `about` says what becomes of the results.
 */
export function registerOperations(
  server: McpServer,
  about: string,
  perform: (request: OperationRequest, extra: Extra) => Promise<CallToolResult>,
): void {
  server.registerTool(
    'convert',
    {
      title: 'Convert a file',
      description: `Converts a file to another format. ${about}`,
      inputSchema: {
        ...OneFile,
        to: Format,
        webpage: Flag.describe('Render the URL as a page.'),
        ...Common,
      },
      annotations,
    },
    ({ input, ...request }, extra) => perform({ ...request, operation: 'convert', inputs: [input] }, extra),
  );
  server.registerTool(
    'compress',
    {
      title: 'Compress a file',
      description: 'Reduces the size of an image, PDF, audio or video.',
      inputSchema: { input: Input, from: OptionalFormat, ...Common },
      annotations,
    },
    ({ input, ...request }, extra) => perform({ ...request, operation: 'compress', inputs: [input] }, extra),
  );
  server.registerTool(
    'merge',
    {
      title: 'Merge files',
      description: 'Merges images and PDFs into one file, in order.',
      inputSchema: { inputs: z.array(Input).min(2).max(100), to: z.enum(['pdf', 'gif']).default('pdf'), ...Common },
      annotations,
    },
    (request, extra) => perform({ ...request, operation: 'merge' }, extra),
  );
  server.registerTool(
    'crop',
    {
      title: 'Crop a file',
      description: 'Crops an image or video in pixels, or the pages of a PDF in points.',
      inputSchema: { ...OneFile, x: Pixels, y: Pixels, width: Pixels, height: Pixels, ...Common },
      annotations,
    },
    ({ input, x, y, width, height, options, ...request }, extra) =>
      perform(
        {
          ...request,
          operation: 'crop',
          inputs: [input],
          options: given({ ...options, x, y, width, height }),
        },
        extra,
      ),
  );
  server.registerTool(
    'trim',
    {
      title: 'Trim audio or video',
      description: 'Keeps the part from start to end: seconds, or 00:01:30.5.',
      inputSchema: { ...OneFile, start: Time, end: Time, ...Common },
      annotations,
    },
    ({ input, start, end, options, ...request }, extra) =>
      perform(
        {
          ...request,
          operation: 'trim',
          inputs: [input],
          options: given({ ...options, trim_start: start, trim_end: end }),
        },
        extra,
      ),
  );
  server.registerTool(
    'document',
    {
      title: 'Work on a PDF',
      description: `Operations: ${documentOperations}.`,
      inputSchema: {
        operation: z.string(),
        input: Input,
        to: OptionalFormat,
        files: z.record(z.string(), z.string()).optional().describe('picture, data, original, attachments, invoice'),
        ...Common,
      },
      annotations,
    },
    ({ input, ...request }, extra) => perform({ ...request, inputs: [input] }, extra),
  );
}

/** Returns options without those that were not given. */
function given(options: Record<string, Options[string] | undefined>): Options {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Returns the bytes of a data: URI in base64, or undefined if an input is something else. */
export function bytesOf(input: string): Uint8Array<ArrayBuffer> | undefined {
  const [, base64] = /^data:[^,]*;base64,([A-Za-z0-9+/=\s]*)$/i.exec(input) ?? [];
  return base64 === undefined ? undefined : new Uint8Array(Buffer.from(base64, 'base64'));
}
