import { LatheError } from '../errors.ts';

/** Tells whether no file of this command could be converted. */
export function isUnavailable(error: unknown): error is LatheError {
  return (
    error instanceof LatheError && (error.status === 401 || error.status === 403 || error.errorCode === 'unreachable')
  );
}

/** Returns the code and message of any error. */
export function describe(error: unknown): { errorCode: string; msg: string } {
  if (error instanceof LatheError) return error;
  if (!(error instanceof Error)) return { errorCode: 'error', msg: String(error) };
  const code = 'code' in error ? String(error.code) : 'error';
  return { errorCode: code, msg: code === 'EEXIST' ? 'The output exists; --force replaces it.' : error.message };
}

/** Returns what to do where the service cannot be used. */
export function adviceOn({ status, errorCode }: LatheError, configFile: string): string {
  if (errorCode === 'unreachable')
    return 'Start the service with npm start, or set LATHE_URL to the address of a running one.';
  if (status === 401)
    return `Set LATHE_API_KEY to your key (npm start prints that of the local service), or write it into ${configFile}.`;
  return `Use a key that may do this, by LATHE_API_KEY or in ${configFile}.`;
}
