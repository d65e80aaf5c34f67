import { LatheError } from '../errors.ts';

/** Returns whether an error affects all files of a command. */
export function isUnavailable(error: unknown): error is LatheError {
  if (!(error instanceof LatheError)) return false;
  const { status, errorCode } = error;
  // A key without conversion minutes is also refused with a 403, in other words.
  return status === 401 || (status === 403 && !errorCode.startsWith('out_of_')) || errorCode === 'unreachable';
}

/**
 * Returns the code and message of any error. `nameOf` translates fields of requests, such as output_format, to what the
 * user wrote; requests are made by the client, so their paths would say nothing.
 */
export function describe(
  error: unknown,
  nameOf: (field: string) => string = (field) => field,
): { errorCode: string; msg: string } {
  if (error instanceof LatheError) {
    const [first] = Object.entries(error.errors ?? {});
    const { errorCode, msg } = error;
    return first?.[1][0] === undefined
      ? { errorCode, msg }
      : { errorCode, msg: messageOf(first[0], first[1][0], nameOf) };
  }
  if (!(error instanceof Error)) return { errorCode: 'error', msg: String(error) };
  const code = 'code' in error ? String(error.code) : 'error';
  return {
    errorCode: code,
    msg: code === 'EEXIST' ? 'The output already exists. Use --force to overwrite it.' : error.message,
  };
}

function messageOf(field: string, problem: string, nameOf: (field: string) => string): string {
  return `${nameOf(field.replace(/^tasks\.[^.]+\./, ''))}: ${problem}`;
}

/** Returns advice for an unavailable service. */
export function adviceOn({ status, errorCode }: LatheError, configFile: string): string {
  if (errorCode === 'unreachable')
    return 'Start the service with npm start, or set LATHE_URL to the URL of a running service.';
  if (status === 401)
    return `Set LATHE_API_KEY to your API key (npm start prints the key of the local service), or add it to ${configFile}.`;
  return `Use an API key with the required scope, in LATHE_API_KEY or in ${configFile}.`;
}
