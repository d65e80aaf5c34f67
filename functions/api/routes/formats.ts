import * as z from 'zod';
import { processingOperations } from '../../../shared/operations/operations.ts';
import { refusal } from '../http/fields.ts';
import type { Route } from '../http/route.ts';

const Extension = () => z.string().min(1).max(20).optional();
const FormatQuery = () =>
  z
    .object({
      input_format: Extension().describe('Input format. Lists the output formats available for it; * lists all.'),
      output_format: Extension().describe('Output format. Lists the input formats available for it; * lists all.'),
    })
    .refine(
      (query) => query.input_format === undefined || query.output_format === undefined,
      refusal('conflicting_parameters', 'Expected input_format or output_format, not both.', ['output_format']),
    );
// The handler checks the operation: an unknown one is a 404 like any other unknown path.
const OperationPath = () =>
  z.object({
    operation: z
      .string()
      .describe(`${processingOperations.join(', ')}.`)
      .meta({ enum: processingOperations }),
  });

export const formatRoutes = {
  'query-all-formats': {
    module: 'formats/query-all-formats',
    method: 'GET',
    path: '/v1/query/formats',
    summary: 'List all supported formats',
    tag: 'Formats and options',
    access: 'public',
    permissions: [],
    success: 200,
    response: 'FormatList',
  },
  'query-formats': {
    module: 'formats/query-formats',
    method: 'GET',
    path: '/v1/query/formats/{operation}',
    summary: 'List the formats that an operation reads or writes',
    tag: 'Formats and options',
    access: 'public',
    permissions: [],
    get params() {
      return OperationPath();
    },
    get query() {
      return FormatQuery();
    },
    refusals: ['conflicting_parameters'],
    success: 200,
    response: 'FormatList',
  },
  'query-options': {
    module: 'formats/query-options',
    method: 'GET',
    path: '/v1/query/options/{operation}',
    summary: 'List the options of an operation for a pair of formats',
    tag: 'Formats and options',
    access: 'public',
    permissions: [],
    get params() {
      return OperationPath();
    },
    get query() {
      return z.object({ input_format: Extension(), output_format: Extension() });
    },
    refusals: ['unsupported_format'],
    success: 200,
    response: 'OptionList',
  },
} as const satisfies Record<string, Route>;
