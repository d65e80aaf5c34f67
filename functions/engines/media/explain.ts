import { EngineError, type InputFile } from '../runtime/engine.ts';
import { ProgramError } from '../runtime/program.ts';

const detailLines = 8;

/** Messages of ffmpeg for features that this build lacks, which no user can fix. */
const faults =
  /Unknown encoder|Unrecognized option|Option .* not found|No such filter|Unknown decoder|not part of|Requested output format/i;

const reasons: { says: RegExp; msg(input: InputFile): string }[] = [
  { says: /exceeds max_streams/i, msg: () => 'The file has too many streams; the maximum is 64.' },
  {
    says: /Picture size .* is invalid|exceeds specified max pixel|Invalid dimensions|max_pixels/i,
    msg: () => 'The video is larger than 7680 × 4320 pixels or has no valid size.',
  },
  {
    says: /No space left/i,
    msg: () => 'The output is too large for the disk of the engine. Trim the file or choose a smaller format.',
  },
  {
    says: /while opening encoder|Could not write header|incorrect codec parameters/i,
    msg: () =>
      'The encoder rejected this file with these options. Omit or change the options for codec, bit rate, sample rate, channels or size.',
  },
  {
    says: /moov atom not found|Truncat|partial file|End of file|ends prematurely/i,
    msg: ({ format }) => `The file could not be read as ${format}: it is damaged or incomplete.`,
  },
  {
    says: /Decoder .*not found|no decoder found|Decoding requested, but no decoder|unsupported codec|not implemented|is not supported/i,
    msg: () => 'The file uses a codec that is not supported.',
  },
];

/** Runs media programs on an input. Translates their output into an error that the user can act on if they fail. */
export async function explained<T>(input: InputFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explain(error, input);
  }
}

function explain(error: unknown, input: InputFile): unknown {
  if (!(error instanceof ProgramError)) return error;
  const detail = error.stderr.trimEnd().split('\n').slice(-detailLines).join('\n');
  if (error.timedOut) return new EngineError('The file takes too long to analyse.', { detail, cause: error });
  // Killed from outside, as on cancel: not caused by the file.
  if (error.code === undefined || faults.test(detail)) return error;
  const reason = reasons.find(({ says }) => says.test(detail));
  const msg =
    reason?.msg(input) ?? `The file could not be read as ${input.format}: it is damaged or not of that format.`;
  return new EngineError(msg, { detail, cause: error });
}
