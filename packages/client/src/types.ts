import type { components, paths } from './openapi.ts';

type Schemas = components['schemas'];

export type Task = Schemas['Task'];
export type Job = Schemas['Job'];
/** A file of a result; its link needs no key and works until the file expires. */
export type ResultFile = NonNullable<Task['result']['files']>[number];
export type UploadForm = NonNullable<Task['result']['form']>;
export type Health = Schemas['Health'];
export type OptionList = Schemas['OptionList'];
export type OptionDescriptor = OptionList['options'][number];
export type Token = Schemas['Token'];
/** What a job would take. */
export type Estimate = Schemas['DryRun'];
export type TaskDefinition = Schemas['TaskDefinition'];
/** A job as `createJob` takes it. */
export type JobRequest = paths['/v1/process/jobs']['post']['requestBody']['content']['application/json'];
export type JobFilter = Query<'/v1/process/jobs'>;
export type TaskFilter = Query<'/v1/process/tasks'>;
export type Operation = paths['/v1/query/formats/{operation}']['get']['parameters']['path']['operation'];
/** The format to convert to: those that the service had when these types were made, and any that it has by now. */
export type OutputFormat = Schemas['ConvertOutputFormat'] | (string & {});
/** Options as the options query lists them. */
export type Options = Record<string, string | number | boolean>;

type Query<Path extends '/v1/process/jobs' | '/v1/process/tasks'> = Omit<
  NonNullable<paths[Path]['get']['parameters']['query']>,
  'page'
>;

export interface CallOptions {
  /** Aborts the call; what it has begun on the service goes on. */
  signal?: AbortSignal | undefined;
}

export interface Progress {
  /** Bytes so far. */
  loaded: number;
  /** All bytes, where the size is known. */
  total: number | undefined;
}

export interface TransferOptions extends CallOptions {
  onProgress?: ((progress: Progress) => void) | undefined;
}
