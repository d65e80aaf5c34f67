import { EngineError } from './engine.ts';
import { ProgramError } from './program.ts';

/** Signals of a process that crashed, as opposed to one that was killed. */
const crashes = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'];
/** Exit codes for programs that cannot be started. */
const notStarted = [126, 127];
const memoryCodes = ['ENOMEM', 'ERR_BUFFER_TOO_LARGE', 'ERR_FS_FILE_TOO_LARGE', 'ERR_STRING_TOO_LONG'];
const diskCodes = ['EDQUOT', 'EFBIG', 'ENOSPC'];

/**
 * Returns the error for the user if the same file would fail on every attempt. Returns undefined if the service or the
 * machine may be at fault.
 */
export function faultOfFile(error: unknown, folder: string): EngineError | undefined {
  if (error instanceof EngineError) return error;
  if (!(error instanceof Error)) return undefined;
  const refuse = (msg: string) => new EngineError(msg, { detail: error.message, cause: error });
  if (error instanceof ProgramError) return notStarted.includes(error.code ?? 0) ? undefined : refuse(crashMessage);
  const { code = '', path, syscall = '' }: NodeJS.ErrnoException = error;
  if (syscall.startsWith('spawn')) return undefined;
  if (memoryCodes.includes(code) || /^(?:Array buffer allocation failed|Invalid string length)/.test(error.message))
    return refuse('The file needs more memory than the engine has. Reduce its dimensions or size.');
  if (diskCodes.includes(code)) return refuse('The file needs more disk space than the engine has. Split it.');
  if (code === 'ENOENT' && path?.startsWith(`${folder}/`)) return refuse('The conversion produced no file.');
  return undefined;
}

/** Returns the error for a file on which the engine's own process crashed. */
export function crashOnFile(signal: string | null): EngineError | undefined {
  return signal !== null && crashes.includes(signal) ? new EngineError(crashMessage, { detail: signal }) : undefined;
}

const crashMessage = 'The converter failed on this file: it is damaged, or uses a feature that is not supported.';
