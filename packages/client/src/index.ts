export type { DownloadOptions, Link, NodeWritable, Target } from './download.ts';
export { JobFailedError, LatheError, type LatheErrorDetails } from './errors.ts';
export type { FollowOptions, JobEvent } from './follow.ts';
export { type CreateOptions, type FormatQuery, Lathe, type LatheOptions } from './lathe.ts';
export type { components, paths } from './openapi.ts';
export type { RetryPolicy } from './retry.ts';
export type {
  CompressOptions,
  ConvertOptions,
  CropOptions,
  LooseTask,
  MergeOptions,
  PerformOptions,
  RunOptions,
  RunProgress,
  RunResult,
  TrimOptions,
} from './run.ts';
export type { Input, SourceOptions } from './source.ts';
export type { RequestOptions } from './transport.ts';
export type * from './types.ts';
