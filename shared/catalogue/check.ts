import type { ProcessingOperation } from '../operations/operations.ts';
import type { FieldErrors, Refusal } from '../operations/problems.ts';
import type { Catalogue, Match } from './catalogue.ts';
import { checkOptions, type OptionValues } from './options.ts';

export interface ProcessingRequest {
  operation: ProcessingOperation;
  /** Undefined until the file has arrived, if the request does not name it. */
  inputFormat: string | undefined;
  /** Undefined if the output has the format of the input. */
  outputFormat: string | undefined;
  options: Record<string, unknown>;
}

export interface ProcessingProblems {
  errors: FieldErrors;
  reason: Refusal;
}

export type ProcessingCheck = ProcessingProblems | { match: Match | undefined; options: OptionValues };

/** Checks a pair of formats and its options. Checks that need the file run once it has arrived. */
export function checkProcessing(catalogue: Catalogue, request: ProcessingRequest): ProcessingCheck {
  const { operation } = request;
  const target = request.outputFormat ?? request.inputFormat;
  if (target === undefined) return { match: undefined, options: {} };
  const to = catalogue.canonical(target);
  const reachableFrom = catalogue.inputs(operation, to);
  if (reachableFrom.length === 0) {
    const valid = catalogue.outputs(operation, request.inputFormat ? catalogue.canonical(request.inputFormat) : '*');
    return unsupported('output_format', `Cannot ${operation} to ${quote(to)}. ${listValid('output formats', valid)}`);
  }
  if (request.inputFormat === undefined) return { match: undefined, options: {} };
  const from = catalogue.canonical(request.inputFormat);
  const match = catalogue.find(operation, from, to);
  if (!match) {
    const outputs = catalogue.outputs(operation, from);
    return outputs.length === 0
      ? unsupported(
          'input_format',
          `Cannot ${operation} from ${quote(from)}. ${listValid(`input formats for ${to}`, reachableFrom)}`,
        )
      : unsupported(
          'output_format',
          `Cannot ${operation} ${quote(from)} to ${quote(to)}. ${listValid(`output formats for ${from}`, outputs)}`,
        );
  }
  const checked = checkOptions(match.capability.options, request.options);
  const errors = Object.entries(checked.errors);
  if (errors.length > 0)
    return {
      errors: Object.fromEntries(errors.map(([name, messages]) => [`options.${name}`, messages])),
      reason: 'invalid_options',
    };
  return { match, options: checked.values };
}

function unsupported(field: string, message: string): ProcessingProblems {
  return { errors: { [field]: [message] }, reason: 'unsupported_format' };
}

function quote(format: string): string {
  return JSON.stringify(format.slice(0, 20));
}

function listValid(what: string, formats: string[]): string {
  return formats.length > 0 ? `Valid ${what}: ${formats.join(', ')}.` : `No ${what} are available on this instance.`;
}
