import * as z from 'zod';
import { isId } from '../ids.ts';

/** An ObjectID. */
export const Id = z
  .string()
  .refine(isId, 'Expected an id of 24 hexadecimal digits.')
  .meta({ pattern: '^[0-9a-f]{24}$' });

const text = (max: number) => z.string().min(1).max(max);
const Input = text(64);
/** One input, or several; published clients send either where the spec says an array. */
const Inputs = z
  .union([Input, z.array(Input).min(1).max(1000)])
  .transform((input) => (Array.isArray(input) ? input : [input]));
const Filename = text(1024);
const Format = text(20).transform((format) => format.toLowerCase().replace(/^\./, ''));
const Options = z.record(z.string().max(100), z.union([z.string().max(10_000), z.number(), z.boolean()])).default({});

export const largestBase64Characters = 1_500_000;

/** Parameters of each operation, without `operation` itself: what its own endpoint takes and a job's task may hold. */
export const operationSchemas = {
  'import/upload': z.object({}),
  'import/base64': z.object({
    file: text(largestBase64Characters).describe('Content in data-URI form: data:<media_type>;base64,<data>.'),
    filename: Filename,
  }),
  convert: z.object({
    input: Inputs,
    input_format: Format.optional(),
    output_format: Format,
    filename: Filename.optional(),
    options: Options,
  }),
  'export/url': z.object({
    input: Inputs,
    filename: Filename.optional(),
    archive_multiple_files: z.boolean().default(false),
  }),
} as const;

export type OperationName = keyof typeof operationSchemas;
export const operationNames = Object.keys(operationSchemas) as OperationName[];

/** Tells whether a string names an operation. */
export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operationSchemas, name);
}

/** What a job's `tasks` object holds before each task is checked against its operation. */
export const JobRequest = z.object({
  tag: z.string().max(1024).optional(),
  tasks: z.record(z.string(), z.unknown()),
});
