import S3Error from '@20minutes/s3rver/lib/models/error.js';

export { S3Error };

/** Makes an error that S3 answers as XML; the status is the one s3rver knows for the code unless given. */
export function s3Error(
  code: string,
  message: string,
  options: { status?: number; detail?: Record<string, string | number> } = {},
): S3Error {
  const error = new S3Error(code, message, options.detail ?? {});
  if (options.status !== undefined) error.status = options.status;
  return error;
}
