import { nearestNames, suggestion } from '../operations/nearest-name.ts';
import { outputFormatOf, type ProcessingOperation } from '../operations/operations.ts';
import type { FieldErrors, Refusal } from '../operations/problems.ts';
import type { Catalogue, Match } from './catalogue.ts';
import { checkOptions, type OptionValues } from './options.ts';

export interface ProcessingRequest {
  operation: ProcessingOperation;
  /** Undefined until the file has arrived, if the request does not name it. */
  inputFormat: string | undefined;
  /** Undefined for the default of the operation, which usually is the format of the input. */
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
  const target = outputFormatOf(operation, request.outputFormat, request.inputFormat);
  if (target === undefined) return { match: undefined, options: {} };
  const { outputFormat } = request;
  const to = catalogue.canonical(target);
  const from = request.inputFormat === undefined ? undefined : catalogue.canonical(request.inputFormat);
  const match = from === undefined ? undefined : catalogue.find(operation, from, to);
  if (match) {
    const { errors, values } = checkOptions(match.capability.options, request.options);
    return Object.keys(errors).length > 0 ? invalidOptions(errors) : { match, options: values };
  }
  if (from !== undefined && catalogue.outputs(operation, from).length === 0)
    return unsupported('input_format', cannotRead(catalogue, operation, from));
  if (from === undefined && catalogue.inputs(operation, to).length > 0) {
    const errors = unknownOptions(catalogue.optionNames(operation, to), request.options, `${operation} to ${to}`);
    return Object.keys(errors).length > 0 ? invalidOptions(errors) : { match: undefined, options: {} };
  }
  return unsupported(
    outputFormat === undefined ? 'input_format' : 'output_format',
    cannotWrite(catalogue, operation, from, to),
  );
}

/** Returns the options that no pair of formats has, so that a typing error is found before a file is uploaded. */
function unknownOptions(known: string[], given: Record<string, unknown>, what: string): Record<string, string[]> {
  const unknown = Object.keys(given)
    .filter((name) => !known.includes(name))
    .slice(0, maxErrors);
  return Object.fromEntries(
    unknown.map((name) => [name, [`Unknown option ${quote(name)} of ${what}.${suggestion(name, known)}`]]),
  );
}

function invalidOptions(errors: Record<string, string[]>): ProcessingProblems {
  return {
    errors: Object.fromEntries(Object.entries(errors).map(([name, messages]) => [`options.${name}`, messages])),
    reason: 'invalid_options',
  };
}

/** Returns why an extension names no format, with similar ones; undefined if it names one. */
export function unknownFormat(catalogue: Catalogue, ext: string): string | undefined {
  if (catalogue.format(catalogue.canonical(ext))) return undefined;
  return `Expected the extension of a format but received ${quote(ext)}.${didYouMean(catalogue, ext, catalogue.formats())}`;
}

const maxErrors = 20;
/** Formats in a message. More would not be read. */
const maxListed = 80;

/** Describes an input format that an operation does not take. */
function cannotRead(catalogue: Catalogue, operation: ProcessingOperation, from: string): string {
  const known = catalogue.inputs(operation, '*');
  const start = `Cannot ${operation} ${quote(from)}`;
  if (catalogue.isWithheld(operation, from, '*')) return `${start}: ${programMissing}`;
  if (!catalogue.format(from)) return `${start}: the format is not known.${didYouMean(catalogue, from, known)}`;
  return `${start}: ${operation} is not available for this format. GET /v1/query/formats/${operation}?output_format=* lists the formats that it takes.`;
}

/** Describes an output format that an operation cannot write, or not from this input format. */
function cannotWrite(
  catalogue: Catalogue,
  operation: ProcessingOperation,
  from: string | undefined,
  to: string,
): string {
  const start = `Cannot ${operation} ${from === undefined ? '' : `${quote(from)} `}to ${quote(to)}`;
  const known = catalogue.outputs(operation, from ?? '*');
  const reason = catalogue.isWithheld(operation, from ?? '*', to)
    ? `: ${programMissing}`
    : `.${didYouMean(catalogue, to, known)}`;
  const own = [...new Set(known.map((format) => catalogue.canonical(format)))].sort();
  const list =
    own.length <= maxListed
      ? `Valid output formats${from === undefined ? '' : ` for ${from}`}: ${own.join(', ')}.`
      : `GET /v1/query/formats/${operation}?input_format=${from ?? '*'} lists the valid output formats.`;
  return `${start}${reason} ${list}`;
}

const programMissing = 'a program that it needs is not installed on this instance; GET /health lists what is missing.';

function didYouMean(catalogue: Catalogue, name: string, known: string[]): string {
  const near = nearestNames(name, known).map((format) => catalogue.canonical(format));
  const names = [...new Set(near)].slice(0, 3);
  return names.length === 0 ? '' : ` Did you mean ${names.join(' or ')}?`;
}

function unsupported(field: string, message: string): ProcessingProblems {
  return { errors: { [field]: [message] }, reason: 'unsupported_format' };
}

function quote(format: string): string {
  return JSON.stringify(format.slice(0, 60).toWellFormed());
}
