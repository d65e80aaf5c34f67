import { EngineError } from './engine.ts';
import { ProgramError } from './program.ts';

/** Signals of a process that broke on its own, as opposed to one that somebody ended. */
const crashes = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'];
/** What programs end with that cannot be started. */
const notStarted = [126, 127];
const memoryCodes = ['ENOMEM', 'ERR_BUFFER_TOO_LARGE', 'ERR_FS_FILE_TOO_LARGE', 'ERR_STRING_TOO_LONG'];
const diskCodes = ['EDQUOT', 'EFBIG', 'ENOSPC'];

/**
 * Returns the refusal for an error that the same file would cause again, however often the work is repeated; undefined for
 * one that may be a fault of ours or of the machine.
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

/** Returns the refusal for a file on which the engine's own process crashed. */
export function crashOnFile(signal: string | null): EngineError | undefined {
  return signal !== null && crashes.includes(signal) ? new EngineError(crashMessage, { detail: signal }) : undefined;
}

const crashMessage = 'The converter failed on this file: it is damaged, or uses a feature that is not supported.';
