import * as z from 'zod';
import { processingOperations } from '../../../shared/operations/operations.ts';
import { refusal } from '../http/fields.ts';
import { open, type Route } from '../http/route.ts';

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
    ...open('GET', '/v1/query/formats', 'Formats and options'),
    summary: 'List all supported formats',
    permissions: [],
    response: 'FormatList',
  },
  'query-formats': {
    module: 'formats/query-formats',
    ...open('GET', '/v1/query/formats/{operation+}', 'Formats and options'),
    summary: 'List the formats that an operation reads or writes',
    permissions: [],
    params: OperationPath,
    query: FormatQuery,
    refusals: ['conflicting_parameters', 'unsupported_format'],
    response: 'FormatList',
  },
  'query-options': {
    module: 'formats/query-options',
    ...open('GET', '/v1/query/options/{operation+}', 'Formats and options'),
    summary: 'List the options of an operation for a pair of formats',
    permissions: [],
    params: OperationPath,
    query: () => z.object({ input_format: Extension(), output_format: Extension() }),
    refusals: ['unsupported_format'],
    response: 'OptionList',
  },
} as const satisfies Record<string, Route>;
