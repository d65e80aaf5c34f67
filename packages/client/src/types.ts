import type { components, paths } from './openapi.ts';

type Schemas = components['schemas'];

export type Task = Schemas['Task'];
export type Job = Schemas['Job'];
/**
 * A result file. Its link requires no key and works until the file expires. The file of an instant conversion is in memory,
 * and its link works only in this process.
 */
export type ResultFile = NonNullable<Task['result']['files']>[number] & { content?: Blob };
export type UploadForm = NonNullable<Task['result']['form']>;
export type Health = Schemas['Health'];
export type FormatList = Schemas['FormatList'];
export type Format = FormatList['formats'][number];
export type OptionList = Schemas['OptionList'];
export type OptionDescriptor = OptionList['options'][number];
export type Token = Schemas['Token'];
/** The result of a dry run. */
export type Estimate = Schemas['DryRun'];
export type TaskDefinition = Schemas['TaskDefinition'];
/** The request body of `createJob`. */
export type JobRequest = paths['/v1/process/jobs']['post']['requestBody']['content']['application/json'];
export type JobFilter = Query<'/v1/process/jobs'>;
export type TaskFilter = Query<'/v1/process/tasks'>;
export type Operation = paths['/v1/query/formats/{operation}']['get']['parameters']['path']['operation'];
/** An output format: one known when these types were generated, or any newer one. */
export type OutputFormat = Schemas['ConvertOutputFormat'] | (string & {});
/** The options of an operation, as known when these types were generated. */
export type OperationOptions<Name extends Operation> = Schemas[`${Joined<Name>}Options`];

/** The name of an operation as the names of schemas contain it. */
type Joined<Name extends string> = Name extends `${infer Group}/${infer Rest}`
  ? `${Capitalize<Group>}${Capitalize<Rest>}`
  : Capitalize<Name>;
/** Options by name, chosen at run time. */
export type Options = Record<string, string | number | boolean>;

type Query<Path extends '/v1/process/jobs' | '/v1/process/tasks'> = Omit<
  NonNullable<paths[Path]['get']['parameters']['query']>,
  'page'
>;

export interface CallOptions {
  /** Aborts the call, but not the work it started in the service. */
  signal?: AbortSignal | undefined;
}

export interface WaitOptions extends CallOptions {
  /** How long the service may take to respond; at most 25 seconds. */
  waitSeconds?: number | undefined;
}

export interface Progress {
  /** Bytes transferred. */
  loaded: number;
  /** Total bytes, if known. */
  total: number | undefined;
}

export interface TransferOptions extends CallOptions {
  onProgress?: ((progress: Progress) => void) | undefined;
}
